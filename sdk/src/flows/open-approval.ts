import type { Hex } from 'viem';
import { decodeFunctionResult, encodeFunctionData } from 'viem/utils';
import type { Causeway } from '../client.ts';
import type { EvmChain, OfferDetails } from '../wire.ts';
import { EVENT_TOPICS, tokenAbi } from './abi.ts';
import { type Allowance, approveCall, assertNotFalse, tooLow } from './approval.ts';
import { FlowFailure, type FlowOptions, runFlow } from './flow.ts';
import { parseSmallestUnits } from './money.ts';
import { findDeployment } from './offer-contract.ts';
import { waitForReceipt } from './receipt.ts';
import type { Log } from './rpc.ts';
import { connectWallet, openSession, readNode, type Session } from './session.ts';
import { sendTransaction, simulate } from './transaction.ts';
import { assertTrusted } from './trusted.ts';
import type { EvmWallet } from './wallet.ts';

export type RevokePhase = 'connecting' | 'revoking' | 'confirming';

export type OpenApprovalInput = {
  offer: OfferDetails;
  chain: EvmChain;
  wallet: EvmWallet;
  /** The funding asset that was approved. */
  assetId: string;
};

/**
 * Revokes an approval that no purchase needs, by setting the offer contract's allowance to zero. Returns the hash of
 * the transaction. Throws `approval_not_found` if the allowance on chain is already zero, even if the service reports
 * an approval.
 *
 * @example
 * ```ts
 * import { createCauseway } from '@causeway/sdk';
 * import { type EvmWallet, isFlowError, revokeApproval } from '@causeway/sdk/flows';
 *
 * export async function revoke(causeway: ReturnType<typeof createCauseway>, wallet: EvmWallet) {
 *   const offer = await causeway.offers.get('harbour-quarter');
 *   const approval = { offer, chain: 'ethereum_sepolia', wallet, assetId: 'usd-coin' } as const;
 *   await revokeApproval(causeway, approval).catch((error) => {
 *     if (!isFlowError(error, 'approval_not_found')) throw error;
 *   });
 * }
 * ```
 */
export async function revokeApproval(
  causeway: Causeway,
  input: OpenApprovalInput,
  options: FlowOptions<RevokePhase> = {},
): Promise<Hex> {
  return runFlow(options, 'connecting', async ({ enter, reportTransaction }) => {
    const session = openSession(causeway, input, options, reportTransaction);
    const approval = await connectTo(session, input);
    if ((await readAllowanceOnChain(session, approval)) === 0n)
      throw new FlowFailure('approval_not_found', 'The wallet has no open approval for this contract.');
    const call = approveCall(approval, 0n);
    assertNotFalse(await simulate(session, call));
    enter('revoking');
    const sent = await sendTransaction(session, call);
    enter('confirming');
    const { transactionHash } = await waitForReceipt(session, sent);
    // The allowance can still be above zero: the owner may have edited the amount in the wallet, or another approval
    // may have followed.
    if ((await readAllowanceOnChain(session, approval)) > 0n)
      throw new FlowFailure('approval_failed', 'The transaction was mined, but the allowance is not zero.', {
        transactionHash,
      });
    return transactionHash;
  });
}

/** How many blocks back to look for an approval. Many nodes refuse to search more blocks in one request. */
const SEARCHED_BLOCKS = 9_000;

/**
 * Finds the newest approval that this wallet gave to the offer's contract. Reads the chain, not the service. Returns
 * the hash of the approval's transaction, or null if the node finds none in recent blocks. To resume a purchase, pass
 * the hash to `buyTokenSale`. Throws `insufficient_allowance` if the allowance does not cover the amount.
 *
 * @example
 * ```ts
 * import { createCauseway } from '@causeway/sdk';
 * import { type EvmWallet, findOpenApproval, isFlowError } from '@causeway/sdk/flows';
 *
 * export async function findLost(causeway: ReturnType<typeof createCauseway>, wallet: EvmWallet) {
 *   const offer = await causeway.offers.get('harbour-quarter');
 *   const purchase = { offer, chain: 'ethereum_sepolia', wallet, assetId: 'usd-coin', amount: 25_000_000n } as const;
 *   const approvalHash = await findOpenApproval(causeway, purchase).catch((error) => {
 *     if (isFlowError(error, 'insufficient_allowance')) return null;
 *     throw error;
 *   });
 *   console.log(approvalHash);
 * }
 * ```
 */
export async function findOpenApproval(
  causeway: Causeway,
  input: OpenApprovalInput & { amount: string | bigint },
  options: FlowOptions<'connecting'> = {},
): Promise<Hex | null> {
  return runFlow(options, 'connecting', async ({ reportTransaction }) => {
    const amount = parseSmallestUnits(input.amount);
    const session = openSession(causeway, input, options, reportTransaction);
    const approval = await connectTo(session, input);
    const allowance = await readAllowanceOnChain(session, approval);
    if (allowance < amount) throw tooLow({ ...approval, amount }, allowance);
    // Ignores a failed search: without the hash, the user only has to approve again.
    const logs = await searchApprovals(session, approval).catch(() => []);
    const last = logs.at(-1);
    return last && BigInt(last.data) > 0n ? last.transactionHash : null;
  });
}

type Approval = Omit<Allowance, 'amount'>;

/** Connects the wallet and returns the approval's token and spender. */
async function connectTo(session: Session, { offer, chain, assetId }: OpenApprovalInput): Promise<Approval> {
  const deployment = findDeployment(offer, offer.type, chain, assetId);
  assertTrusted(session.trusted, chain, deployment);
  await connectWallet(session);
  return { token: deployment.token.address, spender: deployment.address };
}

/** Reads the allowance from the chain, not from the service. */
async function readAllowanceOnChain(session: Session, { token, spender }: Approval): Promise<bigint> {
  const fn = { abi: tokenAbi, functionName: 'allowance' } as const;
  const data = encodeFunctionData({ ...fn, args: [session.address, spender] });
  return decodeFunctionResult({ ...fn, data: await simulate(session, { to: token, data }) });
}

type MinedLog = Log & { transactionHash: Hex };

/**
 * Returns the wallet's `Approval` events in recent blocks. Leaves out transactions that also move tokens from the wallet
 * to the contract: many tokens emit `Approval` in `transferFrom`, and the service refuses such transactions.
 */
async function searchApprovals(session: Session, { token, spender }: Approval): Promise<MinedLog[]> {
  const latest = Number(await readNode(session, 'eth_blockNumber'));
  const from = Math.max(0, latest - SEARCHED_BLOCKS);
  const topicOf = (address: Hex) => `0x${address.slice(2).padStart(64, '0')}`;
  const filter = {
    address: token,
    topics: [[EVENT_TOPICS.approval, EVENT_TOPICS.transfer], topicOf(session.address), topicOf(spender)],
    ...{ fromBlock: `0x${from.toString(16)}`, toBlock: 'latest' },
  };
  const logs = (await readNode(session, 'eth_getLogs', [filter])) as MinedLog[];
  const isTransfer = ({ topics }: Log) => topics[0]?.toLowerCase() === EVENT_TOPICS.transfer;
  const moved = new Set(logs.filter(isTransfer).map(({ transactionHash }) => transactionHash));
  return logs.filter(({ transactionHash }) => !moved.has(transactionHash));
}
