import { UpstreamFailure } from '../../outbound/failure.ts';
import { rpcError } from '../rpc/failures.ts';
import type { Accept } from '../rpc/rpc.ts';
import { CLOCK_SYSVAR } from './addresses.ts';
import { readClock, type SolanaChain } from './client.ts';
import { type AccountInfo, parseAccount } from './token-accounts.ts';

type Commitment = 'confirmed' | 'finalized';

/** The maximum number of accounts that nodes return per call. */
const MAX_ACCOUNTS = 100;
const MAX_STATUSES = 256;

/** Makes one call. If `accept` throws, another node is tried. */
export async function call(
  chain: SolanaChain,
  method: string,
  params: unknown[],
  accept?: Accept,
): Promise<unknown> {
  const [reply] = await chain.rpc.batch([{ method, params }], accept);
  if (reply === undefined) throw invalid(chain, method);
  if ('error' in reply) throw reply.error;
  return reply.result;
}

function invalid({ name }: SolanaChain, method: string) {
  return rpcError(name, new UpstreamFailure('invalid_response', `the reply to ${method} is malformed`));
}

/**
 * In the order of `addresses`, null for an account that does not exist. A node that has not reached `minSlot` rejects
 * the call, and another one is tried.
 */
export async function readAccounts(
  chain: SolanaChain,
  addresses: readonly string[],
  options: { commitment: Commitment; minSlot?: bigint },
): Promise<(AccountInfo | null)[]> {
  return (await readAccountsAndSlot(chain, addresses, options)).accounts;
}

/** Like `readAccounts`, but also returns the latest slot at which it has read an account. */
export async function readAccountsAndSlot(
  chain: SolanaChain,
  addresses: readonly string[],
  { commitment, minSlot = 0n }: { commitment: Commitment; minSlot?: bigint },
): Promise<{ accounts: (AccountInfo | null)[]; slot: bigint }> {
  const chunks: string[][] = [];
  for (let i = 0; i < addresses.length; i += MAX_ACCOUNTS) chunks.push(addresses.slice(i, i + MAX_ACCOUNTS));
  const found = await Promise.all(
    chunks.map(async (chunk) => {
      const options = {
        encoding: 'base64',
        commitment,
        ...(minSlot > 0n && { minContextSlot: Number(minSlot) }),
      };
      const reply = await call(chain, 'getMultipleAccounts', [chunk, options]);
      const { value, context } = (reply ?? {}) as { value?: unknown; context?: { slot?: unknown } };
      const isComplete = Array.isArray(value) && value.length === chunk.length;
      const slot = BigInt(Number(context?.slot ?? -1));
      if (!isComplete || slot < minSlot) throw invalid(chain, 'getMultipleAccounts');
      return { accounts: value.map(parseAccount), slot };
    }),
  );
  return {
    accounts: found.flatMap(({ accounts }) => accounts),
    slot: found.reduce((latest, { slot }) => (slot > latest ? slot : latest), minSlot),
  };
}

export async function readEpoch(chain: SolanaChain): Promise<{ slot: bigint; height: bigint }> {
  const reply = await call(chain, 'getEpochInfo', [{ commitment: 'finalized' }]);
  const { absoluteSlot, blockHeight } = (reply ?? {}) as { absoluteSlot?: unknown; blockHeight?: unknown };
  if (!Number.isSafeInteger(absoluteSlot) || !Number.isSafeInteger(blockHeight))
    throw invalid(chain, 'getEpochInfo');
  return { slot: BigInt(Number(absoluteSlot)), height: BigInt(Number(blockHeight)) };
}

/**
 * The time of the latest confirmed block in milliseconds. Infinity if the clock account is behind the latest slot:
 * its time is then outdated, and every deadline must count as passed.
 */
export async function readChainTime(chain: SolanaChain): Promise<number> {
  const options = { commitment: 'confirmed', encoding: 'base64' };
  const reply = await call(chain, 'getAccountInfo', [CLOCK_SYSVAR, options]);
  const clock = readClock(reply);
  if (clock === null) throw invalid(chain, 'getAccountInfo');
  const { slot } = (reply as { context: { slot: number } }).context;
  return clock.number < BigInt(slot) ? Number.POSITIVE_INFINITY : clock.timestamp * 1000;
}

type Blockhash = { hash: string; lastValidHeight: bigint };

/** The longest plausible lifetime of a blockhash, in blocks. Ten times the lifetime on today's clusters. */
const MAX_BLOCKHASH_BLOCKS = 1_500n;

/**
 * Takes the last valid height from the node, because the lifetime of blockhashes may change. If it is below the
 * finalized `height` or implausibly far, tries another node: a caller would otherwise give up a transaction that can
 * still land, or wait months for one to expire.
 */
export async function readBlockhash(chain: SolanaChain, height: bigint): Promise<Blockhash> {
  const reply = await call(chain, 'getLatestBlockhash', [{ commitment: 'confirmed' }], ([first]) => {
    if (first !== undefined && !('error' in first)) parseBlockhash(first.result, height);
  });
  return parseBlockhash(reply, height);
}

function parseBlockhash(reply: unknown, height: bigint): Blockhash {
  const { blockhash, lastValidBlockHeight } =
    (reply as { value?: Record<string, unknown> | null } | null)?.value ?? {};
  const isComplete = typeof blockhash === 'string' && Number.isSafeInteger(lastValidBlockHeight);
  const lastValidHeight = isComplete ? BigInt(Number(lastValidBlockHeight)) : 0n;
  if (!isComplete || lastValidHeight <= height || lastValidHeight > height + MAX_BLOCKHASH_BLOCKS)
    throw new UpstreamFailure(
      'invalid_response',
      'the reply to getLatestBlockhash is malformed or implausible',
    );
  return { hash: blockhash, lastValidHeight };
}

export type SignatureStatus = { slot: bigint; isConfirmed: boolean; isFailed: boolean };

/** Null does not prove that a transaction failed: nodes can lose statuses. */
export async function readStatuses(
  chain: SolanaChain,
  signatures: readonly string[],
): Promise<(SignatureStatus | null)[]> {
  const statuses: (SignatureStatus | null)[] = [];
  for (let i = 0; i < signatures.length; i += MAX_STATUSES) {
    const chunk = signatures.slice(i, i + MAX_STATUSES);
    const reply = await call(chain, 'getSignatureStatuses', [chunk, { searchTransactionHistory: true }]);
    const { value } = (reply ?? {}) as { value?: unknown };
    if (!Array.isArray(value) || value.length !== chunk.length) throw invalid(chain, 'getSignatureStatuses');
    statuses.push(...value.map(parseStatus));
  }
  return statuses;
}

function parseStatus(value: unknown): SignatureStatus | null {
  if (value === null || typeof value !== 'object') return null;
  const { slot, err, confirmationStatus } = value as Record<string, unknown>;
  return {
    slot: BigInt(Number(slot)),
    isConfirmed: confirmationStatus === 'confirmed' || confirmationStatus === 'finalized',
    isFailed: err !== null && err !== undefined,
  };
}

/** The cluster can change this minimum. */
export async function readRent(chain: SolanaChain, bytes: number): Promise<bigint> {
  const value = Number(await call(chain, 'getMinimumBalanceForRentExemption', [bytes]));
  if (!Number.isSafeInteger(value)) throw invalid(chain, 'getMinimumBalanceForRentExemption');
  return BigInt(value);
}

export async function readBalance(chain: SolanaChain, address: string): Promise<bigint> {
  const reply = await call(chain, 'getBalance', [address, { commitment: 'confirmed' }]);
  const value = Number((reply as { value?: unknown } | null)?.value);
  if (!Number.isSafeInteger(value)) throw invalid(chain, 'getBalance');
  return BigInt(value);
}

/** In millionths of a lamport per compute unit, for transactions that write to these accounts. */
export async function readPrices(chain: SolanaChain, writable: readonly string[]): Promise<bigint[]> {
  const reply = await call(chain, 'getRecentPrioritizationFees', [writable]);
  if (!Array.isArray(reply)) throw invalid(chain, 'getRecentPrioritizationFees');
  return reply.map((each) =>
    BigInt(Number((each as { prioritizationFee?: unknown }).prioritizationFee ?? 0)),
  );
}

export type SignatureEntry = { signature: string; slot: bigint; memo: string | null; isFailed: boolean };

/**
 * Finalized ones that mention the address, newest first, older than `before` and newer than `until`. The list may be
 * incomplete, because nodes do not always return every transaction.
 */
export async function readSignatures(
  chain: SolanaChain,
  address: string,
  { before, until, limit }: { before: string | null; until: string | null; limit: number },
): Promise<SignatureEntry[]> {
  const options = {
    commitment: 'finalized',
    limit,
    ...(before !== null && { before }),
    ...(until !== null && { until }),
  };
  const reply = await call(chain, 'getSignaturesForAddress', [address, options]);
  if (!Array.isArray(reply)) throw invalid(chain, 'getSignaturesForAddress');
  return reply.map((each) => {
    const { signature, slot, memo, err } = each as Record<string, unknown>;
    const isFailed = err !== null && err !== undefined;
    return {
      ...{ signature: String(signature), slot: BigInt(Number(slot)) },
      ...{ memo: typeof memo === 'string' ? memo : null, isFailed },
    };
  });
}

/**
 * Sends to every endpoint. Acceptance by a node does not mean that the transaction will be executed. Nodes need not
 * simulate or resend it, because the service does. Repeating the call is safe.
 */
export async function sendTransaction({ rpc }: SolanaChain, raw: Uint8Array): Promise<void> {
  const options = { encoding: 'base64', skipPreflight: true, maxRetries: 0 };
  const params = [Buffer.from(raw).toString('base64'), options];
  await rpc.requestAll({ method: 'sendTransaction', params });
}

/** `error` is null if the transaction would succeed. */
type Simulation = { error: unknown; units: number };

/**
 * Without sending it. If a reply has neither an error nor the compute units, tries another node: a transaction sent
 * without compute units would fail.
 */
export async function simulateTransaction(chain: SolanaChain, raw: Uint8Array): Promise<Simulation> {
  const options = { encoding: 'base64', commitment: 'confirmed', sigVerify: false };
  const params = [Buffer.from(raw).toString('base64'), options];
  const reply = await call(chain, 'simulateTransaction', params, ([first]) => {
    if (first !== undefined && !('error' in first)) readSimulation(first.result);
  });
  return readSimulation(reply);
}

function readSimulation(reply: unknown): Simulation {
  const { err, unitsConsumed } = (reply as { value?: Record<string, unknown> | null } | null)?.value ?? {};
  const units = Number(unitsConsumed ?? 0);
  const hasError = err !== null && err !== undefined;
  if (!hasError && !(Number.isSafeInteger(units) && units > 0))
    throw new UpstreamFailure('invalid_response', 'the reply to simulateTransaction is malformed');
  return { error: err ?? null, units };
}
