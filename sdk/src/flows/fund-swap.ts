import { encodeFunctionData, parseAbi } from 'viem/utils';
import type { Causeway } from '../client.ts';
import type { EvmChain, OfferDetails } from '../wire.ts';
import { assertBalance, ensureAllowance } from './approval.ts';
import { type FlowOptions, runFlow, Stop } from './flow.ts';
import { leastAfterSlippage, readAmount } from './money.ts';
import { findPlace, type Place } from './offer-contract.ts';
import { readSwap, type SwapResult } from './outcome.ts';
import { waitForReceipt } from './receipt.ts';
import { connectWallet, openSession, type Session } from './session.ts';
import { sendTransaction, simulate } from './transaction.ts';
import type { EvmWallet } from './wallet.ts';

export type FundSwapPhase =
  | 'connecting'
  | 'checking'
  | 'resetting_allowance'
  | 'approving'
  | 'confirming_approval'
  | 'previewing'
  | 'swapping'
  | 'confirming';

export type FundSwapInput = {
  offer: OfferDetails;
  chain: EvmChain;
  wallet: EvmWallet;
  /** One of the offer's `funding_assets`. */
  assetId: string;
  /** Smallest units, fee included: the most that is paid. */
  amount: string | bigint;
  /** How much less than the preview may be received, in hundredths of a percent: 50 is 0.5 %. */
  slippageBps: number;
  /** The least to receive, whatever the preview says; for instance what the user was shown. */
  minReceive?: string | bigint | undefined;
  /** Whether to go on when the fund can take only a part of the amount; otherwise that is `supply_short`. */
  allowPartial?: boolean | undefined;
};

const abi = parseAbi(['function swap(address token, uint256 amount, uint256 minOut) returns (uint256)']);

/**
 * Swaps a funding asset into a fund's token. The least that is received is fixed by the preview at the beginning, so
 * that the time an approval takes cannot move it.
 *
 * @example
 * ```ts
 * import { createCauseway } from '@causeway/sdk';
 * import { type EvmWallet, swapFund } from '@causeway/sdk/flows';
 *
 * export async function swap(causeway: ReturnType<typeof createCauseway>, wallet: EvmWallet) {
 *   const offer = await causeway.offers.get('treasury-fund');
 *   const order = { assetId: 'usd-coin', amount: 100_000_000n, slippageBps: 50 };
 *   const { received } = await swapFund(causeway, { offer, chain: 'ethereum_sepolia', wallet, ...order });
 *   console.log(received);
 * }
 * ```
 */
export async function swapFund(
  causeway: Causeway,
  input: FundSwapInput,
  options: FlowOptions<FundSwapPhase> = {},
): Promise<SwapResult> {
  return runFlow(options, 'connecting', async ({ enter, tell }) => {
    const place = findPlace(input.offer, 'fund::swap', input.chain, input.assetId);
    const asked = readAmount(input.amount);
    const floor = input.minReceive === undefined ? 1n : readAmount(input.minReceive, 'minReceive');
    leastAfterSlippage(0n, input.slippageBps);
    const session = openSession(causeway, input, options, tell);
    await connectWallet(session);
    enter('checking');
    await assertOpen(session, place);
    const amount = await findAmount(session, place, asked, input.allowPartial ?? false);
    const wanted = { token: place.token.address, spender: place.address, amount };
    await assertBalance(session, wanted);
    const { receive } = await preview(session, place, amount);
    assertReceives(receive, floor);
    const least = max(leastAfterSlippage(receive, input.slippageBps), floor);
    await ensureAllowance(session, enter, wanted);
    enter('previewing');
    assertReceives((await preview(session, place, amount)).receive, least);
    enter('swapping');
    const args = [place.token.address, amount, least] as const;
    const call = { to: place.address, data: encodeFunctionData({ abi, functionName: 'swap', args }) };
    await simulate(session, call);
    const sent = await sendTransaction(session, call);
    enter('confirming');
    return readSwap(await waitForReceipt(session, sent), session.address, place);
  });
}

/** A stop is told by the bit of the swap level; see `GET /v1/swap/status`. */
async function assertOpen({ causeway, address, chain, signal }: Session, place: Place): Promise<void> {
  const contract = { contract_address: place.address, chain };
  const [status, { authorized }] = await Promise.all([
    causeway.swap.status(contract, { signal }),
    causeway.swap.authorized({ ...contract, wallet_address: address }, { signal }),
  ]);
  if ((BigInt(status.stopped) & BigInt(status.swap_level)) !== 0n)
    throw new Stop('swap_stopped', 'Swaps of this fund are stopped at the moment.', {
      details: { ...status },
    });
  if (!authorized)
    throw new Stop('wallet_not_authorized', 'The wallet is not on the allow-list of this fund yet.');
}

type Preview = { pays: bigint; receive: bigint };

async function preview({ causeway, chain, signal }: Session, place: Place, amount: bigint): Promise<Preview> {
  const { fee, pay_input_amount, receive_output_amount } = await causeway.swap.preview(
    { contract_address: place.address, chain, input_token: place.token.address, amount: String(amount) },
    { signal },
  );
  return { pays: BigInt(pay_input_amount) + BigInt(fee), receive: BigInt(receive_output_amount) };
}

/** What is named to the contract and approved: all that is asked, or the part that the fund can take. */
async function findAmount(
  session: Session,
  place: Place,
  asked: bigint,
  allowPartial: boolean,
): Promise<bigint> {
  const { pays, receive } = await preview(session, place, asked);
  if (pays > asked)
    throw new Stop('contract_reverted', 'The fund would take more than the amount.', {
      details: { reason: 'preview', pays: String(pays) },
    });
  if (receive === 0n || (pays < asked && !allowPartial))
    throw new Stop('supply_short', 'The fund cannot take the whole amount at the moment.', {
      details: { asked: String(asked), pays: String(pays), receives: String(receive) },
    });
  return pays;
}

function assertReceives(receive: bigint, least: bigint): void {
  if (receive < least)
    throw new Stop('price_moved', 'Less would be received than was asked for.', {
      details: { receive: String(receive), least: String(least) },
    });
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
