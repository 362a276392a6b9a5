import type { Hex } from 'viem';
import type { Causeway } from '../client.ts';
import type { EvmChain, OfferDetails } from '../wire.ts';
import { EVENT_TOPICS } from './abi.ts';
import { approveCall } from './approval.ts';
import { type FlowOptions, runFlow } from './flow.ts';
import { findDeployment } from './offer-contract.ts';
import { waitForReceipt } from './receipt.ts';
import type { Log } from './rpc.ts';
import { connectWallet, openSession, readNode, type Session } from './session.ts';
import { sendTransaction, simulate } from './transaction.ts';
import { assertTrusted } from './trusted.ts';
import type { EvmWallet } from './wallet.ts';

export type RevokePhase = 'connecting' | 'revoking' | 'confirming';

type OpenApprovalInput = {
  offer: OfferDetails;
  chain: EvmChain;
  wallet: EvmWallet;
  /** The funding asset that was approved. */
  assetId: string;
};

/**
 * Revokes the approval of a purchase that was not finished: sets the allowance of the offer's contract to zero. Returns
 * the hash of the transaction.
 */
export async function revokeApproval(
  causeway: Causeway,
  input: OpenApprovalInput,
  options: FlowOptions<RevokePhase> = {},
): Promise<Hex> {
  return runFlow(options, 'connecting', async ({ enter, reportTransaction }) => {
    const session = openSession(causeway, input, options, reportTransaction);
    const call = approveCall(await openApproval(session, input), 0n);
    await simulate(session, call);
    enter('revoking');
    const sent = await sendTransaction(session, call);
    enter('confirming');
    return (await waitForReceipt(session, sent)).transactionHash;
  });
}

/** How far back to look for an approval. Many nodes refuse to search more blocks at once. */
const SEARCHED_BLOCKS = 9_000;

/**
 * Finds the newest approval of the offer's contract by this wallet, so that a purchase that lost its hash can go on without
 * another approval. Returns null if the wallet's node finds none.
 */
export async function findOpenApproval(
  causeway: Causeway,
  input: OpenApprovalInput,
  options: FlowOptions<'connecting'> = {},
): Promise<Hex | null> {
  return runFlow(options, 'connecting', async ({ reportTransaction }) => {
    const session = openSession(causeway, input, options, reportTransaction);
    const approval = await openApproval(session, input);
    // The search only saves the user an approval, so a node that refuses it is no failure.
    const logs = await searchApprovals(session, approval).catch(() => []);
    const last = logs.at(-1);
    return last && BigInt(last.data) > 0n ? last.transactionHash : null;
  });
}

/** Connects the wallet and returns the token and the spender of the approval. */
async function openApproval(session: Session, { offer, chain, assetId }: OpenApprovalInput) {
  const deployment = findDeployment(offer, offer.type, chain, assetId);
  assertTrusted(session.trusted, chain, deployment);
  await connectWallet(session);
  return { token: deployment.token.address, spender: deployment.address };
}

async function searchApprovals(session: Session, { token, spender }: { token: Hex; spender: Hex }) {
  const latest = Number(await readNode(session, 'eth_blockNumber'));
  const from = Math.max(0, latest - SEARCHED_BLOCKS);
  const topicOf = (address: Hex) => `0x${address.slice(2).padStart(64, '0')}`;
  const filter = {
    address: token,
    topics: [EVENT_TOPICS.approval, topicOf(session.address), topicOf(spender)],
    ...{ fromBlock: `0x${from.toString(16)}`, toBlock: 'latest' },
  };
  return (await readNode(session, 'eth_getLogs', [filter])) as (Log & { transactionHash: Hex })[];
}
