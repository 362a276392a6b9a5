import {
  type Chain,
  formatAmount,
  type OfferDetails,
  type Participation,
  parseAmount,
  type TokenizedSwapOrder,
} from '@causeway/sdk';
import { TYPE_LABELS } from '../screens/offer-types.ts';
import type { FundSwap } from './fund-swaps.ts';

export type Amount = { units: bigint; decimals: number; code: string };

/**
 * The quantity that an investment bought. In a token sale, the quantity is an estimate at the current price, because
 * the issuer delivers the tokens later.
 */
export type Quantity = Amount & { isEstimate: boolean };

/** One investment of any kind, as shown in the history and on the order page. */
export type Entry = {
  /** The path of the order page. */
  path: string;
  at: string;
  offer: OfferDetails;
  chain: Chain;
  /** The wallet that paid. */
  wallet: string | null;
  status: 'pending' | 'completed' | 'failed' | 'refunded' | 'expired';
  /** Including the fee. */
  paid: Amount;
  fee: Amount;
  received: Quantity | null;
  /** The transactions of the investment, oldest first. */
  transactions: readonly { name: string; hash: string }[];
};

const PARTICIPATION_STATUSES = {
  prepared: 'pending',
  pending: 'pending',
  submitted: 'pending',
  completed: 'completed',
  failed: 'failed',
  remit_submitted: 'pending',
  remitted: 'refunded',
  remit_failed: 'pending',
} as const satisfies Record<Participation['status'], Entry['status']>;

export function fromParticipation(one: Participation, offer: OfferDetails): Entry {
  const { fractional_digits: decimals, code } = one.asset;
  const units = BigInt(one.amount);
  const price = parseAmount(offer.options.find(({ id }) => id === one.offer_option_id)?.price_usd ?? '', 18);
  const { approval_hash, commit_hash, remit_hash } = one.transactions ?? {};
  return {
    ...{ path: `/orders/sale/${one.id}`, at: one.inserted_at, offer, chain: one.chain },
    wallet: one.wallet_address ?? null,
    status: PARTICIPATION_STATUSES[one.status],
    paid: { units, decimals, code },
    fee: { units: 0n, decimals, code },
    received:
      price === null || price === '0'
        ? null
        : {
            units: (units * 10n ** 36n) / (BigInt(price) * 10n ** BigInt(decimals)),
            decimals: 18,
            code: offer.asset.code,
            isEstimate: true,
          },
    transactions: [
      ...(approval_hash ? [{ name: 'Approval', hash: approval_hash }] : []),
      ...(commit_hash ? [{ name: 'Payment', hash: commit_hash }] : []),
      ...(remit_hash ? [{ name: 'Refund', hash: remit_hash }] : []),
    ],
  };
}

const ORDER_STATUSES = { issued: 'pending', executed: 'completed', expired: 'expired' } as const;

export function fromOrder(order: TokenizedSwapOrder, offer: OfferDetails): Entry {
  const token = offer.contracts.find(({ chain }) => chain === order.chain)?.funding_tokens[0];
  const asset = offer.funding_assets.find(({ id }) => id === token?.asset_id);
  const unit = { decimals: token?.decimals ?? 6, code: asset?.code ?? 'USD' };
  const { fractional_digits: decimals, code } = offer.asset;
  return {
    ...{ path: `/orders/trade/${order.id}`, at: order.inserted_at, offer, chain: order.chain },
    wallet: order.wallet_address,
    status: ORDER_STATUSES[order.status],
    paid: { units: BigInt(order.amount), ...unit },
    fee: { units: BigInt(order.fee), ...unit },
    received: { units: BigInt(order.receive_output_amount), decimals, code, isEstimate: false },
    transactions: order.transaction_hash === null ? [] : [{ name: 'Purchase', hash: order.transaction_hash }],
  };
}

export function fromFundSwap(swap: FundSwap): Entry {
  const { offer, chain, at, hash, wallet } = swap;
  const token = offer.contracts
    .find((contract) => contract.chain === chain)
    ?.funding_tokens.find(({ address }) => address.toLowerCase() === swap.token.toLowerCase());
  const asset = offer.funding_assets.find(({ id }) => id === token?.asset_id);
  const unit = { decimals: token?.decimals ?? 6, code: asset?.code ?? 'USD' };
  const { fractional_digits: decimals, code } = offer.asset;
  return {
    ...{ path: `/orders/swap/${hash}`, at, offer, chain, wallet, status: 'completed' },
    paid: { units: swap.paid + swap.fee, ...unit },
    fee: { units: swap.fee, ...unit },
    received: { units: swap.received, decimals, code, isEstimate: false },
    transactions: [{ name: 'Swap', hash }],
  };
}

/** Returns whether the order has a receipt. A receipt confirms that money was taken or returned. */
export const hasReceipt = ({ status }: Entry) => status === 'completed' || status === 'refunded';

export const quantityLabel = ({ isEstimate }: Quantity) => (isEstimate ? 'Quantity, estimated' : 'Quantity');

export const showAmount = ({ units, decimals, code }: Amount) => `${formatAmount(units, decimals)} ${code}`;

const HEADER = [
  'Date',
  'Type',
  'Offer',
  'Status',
  'Network',
  'Paid',
  'Fee',
  'Currency',
  'Received',
  'Received is',
  'Asset',
  'Transaction',
];

/** Returns the history as a table for a spreadsheet, with exact amounts. */
export function historyTable(entries: readonly Entry[]): string[][] {
  const plain = ({ units, decimals }: Amount) => formatAmount(units, decimals);
  return [
    HEADER,
    ...entries.map(({ at, offer, status, chain, paid, fee, received, transactions }) => [
      ...[
        at,
        TYPE_LABELS[offer.type].singular,
        offer.name,
        status,
        chain,
        plain(paid),
        plain(fee),
        paid.code,
      ],
      ...[
        received === null ? '' : plain(received),
        received === null ? '' : received.isEstimate ? 'estimated' : 'exact',
      ],
      ...[received?.code ?? '', transactions.at(-1)?.hash ?? ''],
    ]),
  ];
}
