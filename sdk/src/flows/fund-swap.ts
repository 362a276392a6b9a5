import type { Hex } from 'viem';
import { decodeFunctionResult, encodeFunctionData } from 'viem/utils';
import type { Causeway } from '../client.ts';
import type { EvmChain, OfferDetails } from '../wire.ts';
import { fundSwapAbi } from './abi.ts';
import { type Allowance, assertBalance, ensureAllowance, planApproval, readAllowance } from './approval.ts';
import { canBatch, sendBatch } from './batch.ts';
import { type Enter, FlowFailure, type FlowOptions, runFlow } from './flow.ts';
import { minimumAfterSlippage, parseSmallestUnits } from './money.ts';
import { type Deployment, findDeployment } from './offer-contract.ts';
import { readSwapResult, type SwapResult } from './outcome.ts';
import { waitForReceipt } from './receipt.ts';
import { connectWallet, openSession, type Session } from './session.ts';
import { assertDescribed } from './token-checks.ts';
import { type Call, sendTransaction, simulate } from './transaction.ts';
import { assertTrusted, assertTrustedAsset } from './trusted.ts';
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
  /** The maximum to pay, in smallest units, including the fee. */
  amount: string | bigint;
  /** Maximum slippage in basis points: 50 is 0.50%. */
  slippageBps: number;
  /** The minimum to receive, whatever the preview says, for example the amount that the user was shown. */
  minReceive?: string | bigint | undefined;
  /**
   * Whether to swap only part of the amount if the fund cannot accept all of it. Default: false, which makes the flow
   * fail with `supply_short`.
   */
  allowPartial?: boolean | undefined;
};

/**
 * Swaps a funding asset for a fund's token. The minimum to receive is fixed before the approval, so a price change
 * during the approval cannot lower that minimum.
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
  return runFlow(options, 'connecting', async ({ enter, reportTransaction }) => {
    const { offer } = input;
    const deployment = findDeployment(offer, 'fund::swap', input.chain, input.assetId);
    const { address: spender, assetAddress, token } = deployment;
    assertTrusted(options.trusted, input.chain, deployment);
    assertTrustedAsset(options.trusted, input.chain, offer.asset.id, assetAddress);
    const requested = parseSmallestUnits(input.amount);
    const floor = input.minReceive === undefined ? 1n : parseSmallestUnits(input.minReceive, 'minReceive');
    minimumAfterSlippage(0n, input.slippageBps); // Rejects an invalid slippage before the wallet is used.
    const session = openSession(causeway, input, options, reportTransaction);
    await connectWallet(session);
    enter('checking');
    await assertDescribed(session, token);
    if (assetAddress !== null)
      await assertDescribed(session, { address: assetAddress, decimals: offer.asset.fractional_digits });
    await assertOpen(session, deployment);
    const amount = await findAmount(session, deployment, requested, input.allowPartial ?? false);
    const wanted = { token: token.address, spender, amount };
    await assertBalance(session, wanted);
    const { receive } = await preview(session, deployment, amount);
    const onChain = await previewOnChain(session, deployment, amount);
    const minimum = max(minimumAfterSlippage(max(receive, onChain), input.slippageBps), floor);
    assertReceives(min(receive, onChain), minimum);
    const args = [token.address, amount, minimum] as const;
    const call = { to: spender, data: encodeFunctionData({ abi: fundSwapAbi, functionName: 'swap', args }) };
    const sent =
      (await sendTogether(session, enter, wanted, call)) ??
      (await sendApart(session, enter, wanted, call, async () => {
        assertReceives((await preview(session, deployment, amount)).receive, minimum);
      }));
    return readSwapResult(await waitForReceipt(session, sent), session.address, deployment);
  });
}

/**
 * Sends the approval and the swap as one atomic batch, so that no allowance remains if the swap fails. Sends nothing
 * and returns null if the wallet cannot send atomic batches, or if the allowance already covers the amount. Does not
 * simulate the swap: without the approval, a simulation would fail.
 */
async function sendTogether(
  session: Session,
  enter: Enter<FundSwapPhase>,
  wanted: Allowance,
  swap: Call,
): Promise<Hex | null> {
  if (!(await canBatch(session)) || (await readAllowance(session, wanted)) >= wanted.amount) return null;
  const { reset, approve } = await planApproval(session, wanted);
  enter('swapping');
  const calls = [...(reset === undefined ? [] : [reset]), approve, swap];
  return sendBatch(session, calls, () => enter('confirming'));
}

/** Sends the approval if one is needed, and waits for it. Then sends the swap, unless `check` throws. */
async function sendApart(
  session: Session,
  enter: Enter<FundSwapPhase>,
  wanted: Allowance,
  swap: Call,
  check: () => Promise<void>,
): Promise<Hex> {
  await ensureAllowance(session, enter, wanted);
  enter('previewing');
  await check();
  enter('swapping');
  await simulate(session, swap);
  const sent = await sendTransaction(session, swap);
  enter('confirming');
  return sent;
}

/** Throws if swaps are stopped (the `swap_level` bit is set in `stopped`) or if the wallet is not on the allow-list. */
async function assertOpen(
  { causeway, address, chain, signal }: Session,
  deployment: Deployment,
): Promise<void> {
  const contract = { contract_address: deployment.address, chain };
  const [status, { authorized }] = await Promise.all([
    causeway.swap.status(contract, { signal }),
    causeway.swap.authorized({ ...contract, wallet_address: address }, { signal }),
  ]);
  if ((BigInt(status.stopped) & BigInt(status.swap_level)) !== 0n)
    throw new FlowFailure('swap_stopped', 'Swaps for this fund are currently stopped.', {
      details: { ...status },
    });
  if (!authorized)
    throw new FlowFailure(
      'wallet_not_authorized',
      "The wallet is not on the fund's allow-list. Add it with allowWallet() first.",
    );
}

type Preview = { pays: bigint; receive: bigint };

async function preview(
  { causeway, chain, signal }: Session,
  { address, token }: Deployment,
  amount: bigint,
): Promise<Preview> {
  const { fee, pay_input_amount, receive_output_amount } = await causeway.swap.preview(
    { contract_address: address, chain, input_token: token.address, amount: String(amount) },
    { signal },
  );
  return { pays: BigInt(pay_input_amount) + BigInt(fee), receive: BigInt(receive_output_amount) };
}

/**
 * Reads from the chain how much the fund's contract would pay out, so that the flow does not rely on the service's
 * preview alone. The minimum to receive is the amount on chain or the amount in the service's preview, whichever is
 * higher, minus the slippage, but at least `minReceive`. If either amount is below this minimum, the flow fails before
 * anything is approved.
 */
async function previewOnChain(
  session: Session,
  { address: to, token }: Deployment,
  amount: bigint,
): Promise<bigint> {
  const fn = { abi: fundSwapAbi, functionName: 'preview' } as const;
  const data = encodeFunctionData({ ...fn, args: [token.address, amount] });
  const [pays, fee, output] = decodeFunctionResult({ ...fn, data: await simulate(session, { to, data }) });
  assertPaysAtMost(amount, pays + fee);
  return output;
}

/** Returns the amount to approve and swap. With `allowPartial` it can be less than requested. */
async function findAmount(
  session: Session,
  deployment: Deployment,
  requested: bigint,
  allowPartial: boolean,
): Promise<bigint> {
  const { pays, receive } = await preview(session, deployment, requested);
  assertPaysAtMost(requested, pays);
  if (receive === 0n || (pays < requested && !allowPartial))
    throw new FlowFailure(
      'supply_short',
      'The fund cannot accept the full amount. Lower the amount, or set allowPartial.',
      { details: { requested: String(requested), pays: String(pays), receives: String(receive) } },
    );
  return pays;
}

function assertPaysAtMost(requested: bigint, pays: bigint): void {
  if (pays > requested)
    throw new FlowFailure('contract_reverted', 'The fund would charge more than the amount.', {
      details: { reason: 'preview', pays: String(pays) },
    });
}

function assertReceives(receive: bigint, minimum: bigint): void {
  if (receive < minimum)
    throw new FlowFailure('price_moved', 'The price moved: the output is below the minimum.', {
      details: { receive: String(receive), least: String(minimum) },
    });
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
