import { formatUnits } from 'viem/utils';
import { ApiError, invalidField } from '../../kernel/errors.ts';
import { uncached } from '../../platform/chain/evm/client.ts';
import { readAllowance, readBalance, readDecimals } from '../../platform/chain/evm/erc20.ts';
import { readBlockNumber } from '../../platform/chain/evm/node-reads.ts';
import { readBuyFee, readSwapCount } from '../../platform/chain/evm/tokenized-swap.ts';
import type { Context } from '../../platform/context/context.ts';
import { feeBpsOf, grossUp, splitGross } from './fee.ts';
import type { Intent } from './intent.ts';
import { orRefuse, toApiError } from './refusal.ts';
import { isRunning, isTradable } from './trading-status.ts';

export type Cost = {
  fee: bigint;
  net: bigint;
  decimals: number;
  /** The number of swaps of this token pair that the wallet has made. */
  nonce: bigint;
};

/** The cost of an order, and the block at which the search for its execution starts. */
export type Terms = Cost & {
  /** The latest block when the cost was read. The order cannot be executed before this block. */
  fromBlock: bigint;
};

/** Reads the order's fee from the contract. Throws `fee_changed` if it exceeds the fee that the offer shows. */
export async function readFee({ chain, contract, gross, offer }: Intent): Promise<Pick<Cost, 'fee' | 'net'>> {
  const { fee, net } = await readBuyFee(chain, contract.address, gross);
  const expectedBps = offer.fee_bps ?? 0;
  if (net < splitGross(gross, expectedBps).net)
    throw new ApiError('fee_changed', { expected_bps: expectedBps, actual_bps: feeBpsOf(gross, net) });
  return { fee, net };
}

export async function readCost(intent: Intent): Promise<Cost> {
  const { chain, contract, token, asset, wallet } = intent;
  const [decimals, { fee, net }, nonce] = await Promise.all([
    readDecimals(chain, token),
    readFee(intent),
    readSwapCount(chain, contract.address, wallet, token, asset),
  ]);
  return { fee, net, decimals, nonce };
}

export async function assertTradable(ctx: Context, intent: Intent): Promise<void> {
  const { symbol, contract, chain, token, gross, offer } = intent;
  const [limits, running, decimals, { net }] = await Promise.all([
    orRefuse(ctx, symbol, ctx.venue.tradingLimits(symbol, 'buy'), 'symbol'),
    isRunning(ctx, contract, 'buy'),
    readDecimals(chain, token),
    readBuyFee(chain, contract.address, gross),
  ]);
  if (limits.refusal !== null) throw await toApiError(ctx, symbol, limits.refusal, 'amount');
  if (!running) throw new ApiError('asset_paused', { reason: 'CONTRACT_PAUSED' });
  if (decimals > 18)
    throw new ApiError('contract_reverted', { reason: 'the funding token has more than 18 decimals' });
  if (net === 0n) throw invalidField('amount', 'is too small');
  const value = net * 10n ** BigInt(18 - decimals);
  if (isTradable(limits) && value <= limits.maxNotional) return;
  const limit = formatUnits(grossUp(limits.maxNotional, offer.fee_bps ?? 0), 18);
  throw new ApiError('limit_reached', { reason: 'MAX_LIMIT_REACHED', gross_max_notional_value: limit });
}

/** Returns the order's terms. Throws `insufficient_balance` or `insufficient_allowance` if the wallet cannot pay. */
export async function assertAffordable(intent: Intent): Promise<Terms> {
  const { chain, contract, token, wallet, gross } = intent;
  const fresh = uncached(chain);
  const [cost, balance, allowance, fromBlock] = await Promise.all([
    readCost(intent),
    readBalance(fresh, token, wallet),
    readAllowance(fresh, token, wallet, contract.address),
    readBlockNumber(chain),
  ]);
  const required = gross.toString();
  if (balance < gross)
    throw new ApiError('insufficient_balance', { required, balance: balance.toString(), token });
  if (allowance < gross)
    throw new ApiError('insufficient_allowance', {
      ...{ required, allowance: allowance.toString(), spender: contract.address, token },
    });
  return { ...cost, fromBlock };
}
