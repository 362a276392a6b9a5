import type { Hex } from 'viem';
import { sleep } from '../sleep.ts';
import { type FlowCode, FlowFailure } from './flow.ts';
import { notInTime } from './receipt.ts';
import { promptOwner, readWallet, type Session } from './session.ts';
import type { Call } from './transaction.ts';
import { hasCode } from './wallet-error.ts';

/**
 * Error codes from a wallet that cannot send this batch and has sent nothing: 57xx from EIP-5792, unsupported method
 * (4200) and method not found (-32601).
 */
const REFUSED_BATCH = [5700, 5710, 5740, 5750, 5760, 4200, -32601];
const MAX_FAILED_POLLS = 5;

type Capabilities = Partial<Record<string, { atomic?: { status?: unknown } }>>;
type CallsStatus = { status?: unknown; receipts?: readonly { transactionHash?: unknown }[] };

/**
 * Checks whether the wallet executes batches atomically on the session's chain (EIP-5792). Returns false for a wallet
 * that would first have to upgrade the account (status `ready`), because the owner has not agreed to an upgrade.
 */
export async function canBatch(session: Session): Promise<boolean> {
  if (session.batching === 'off') return false;
  const chain = hexChainId(session);
  const found = await readWallet(session, 'wallet_getCapabilities', [session.address, [chain]]).catch(
    () => null,
  );
  const capabilities = (found ?? {}) as Capabilities;
  const forChain = Object.entries(capabilities).find(([id]) => Number(id) === session.chainId)?.[1];
  // Capabilities reported for chain 0 apply to every chain.
  return (forChain?.atomic ?? capabilities['0x0']?.atomic)?.status === 'supported';
}

/**
 * Has the wallet execute the calls in one atomic transaction, so that no approval remains if the purchase fails. Calls
 * `onSent` when the wallet has accepted the batch. Returns the transaction's hash once the transaction is mined.
 * Returns null if the wallet refuses the batch before it sends anything.
 */
export async function sendBatch(
  session: Session,
  calls: readonly Call[],
  onSent: () => void,
): Promise<Hex | null> {
  const request = {
    ...{ version: '2.0.0', chainId: hexChainId(session), from: session.address, atomicRequired: true },
    calls: calls.map(({ to, data }) => ({ to, data, value: '0x0' })),
  };
  const id = await promptOwner(session, 'wallet_sendCalls', [request]).then(idOf, (error: unknown) => {
    if (hasCode(error, ...REFUSED_BATCH)) return null;
    throw error;
  });
  if (id === null) return null;
  onSent();
  return waitForBatch(session, id);
}

function idOf(reply: unknown): string {
  const id = reply instanceof Object && 'id' in reply ? reply.id : reply;
  if (typeof id === 'string' && id !== '') return id;
  throw incomplete('outcome_unknown');
}

/**
 * Waits until the wallet reports the hash of the batch's transaction. Uses only the hash from the wallet's receipts,
 * because the caller reads the receipt from the chain.
 */
async function waitForBatch(session: Session, id: string): Promise<Hex> {
  const startedAt = Date.now();
  for (let failures = 0; ; ) {
    const found = await readWallet(session, 'wallet_getCallsStatus', [id]).then(
      (reply) => ({ reply: (reply ?? {}) as CallsStatus }),
      (error: unknown) => ({ error }),
    );
    if ('reply' in found) {
      failures = 0;
      const hash = hashOf(found.reply);
      if (hash !== null) {
        session.reportTransaction(hash);
        return hash;
      }
    } else if (session.signal?.aborted || ++failures > MAX_FAILED_POLLS) throw found.error;
    if (Date.now() - startedAt >= session.confirmationTimeoutMs) throw notInTime(id);
    await sleep(session.pollIntervalMs, session.signal);
  }
}

/**
 * Returns the transaction's hash if all calls succeeded (2xx), or null while the batch is pending (1xx). Otherwise
 * throws.
 */
function hashOf({ status, receipts = [] }: CallsStatus): Hex | null {
  const code = Number(status);
  if (code >= 100 && code < 200) return null;
  const hash = String(receipts.at(-1)?.transactionHash).toLowerCase();
  const isHash = /^0x[0-9a-f]{64}$/.test(hash);
  if (code >= 200 && code < 300 && isHash) return hash as Hex;
  const info = { ...(isHash && { transactionHash: hash }), details: { status: code } };
  // 4xx: the batch was not sent. 5xx: all calls reverted. 6xx: only some calls reverted, although atomicity
  // was required.
  if (code >= 400 && code < 500) throw incomplete('transaction_not_found', info);
  throw incomplete(code >= 500 && code < 600 ? 'transaction_reverted' : 'outcome_unknown', info);
}

function incomplete(code: FlowCode, info?: FlowFailure['info']): FlowFailure {
  return new FlowFailure(code, 'The wallet did not complete the batch.', info);
}

function hexChainId({ chainId }: Session): Hex {
  return `0x${chainId.toString(16)}`;
}
