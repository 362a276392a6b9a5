import { decodeBase58, encodeBase58 } from '../base58.ts';
import { abortable } from '../sleep.ts';
import { FlowFailure } from './flow.ts';
import type { WalletSession } from './session.ts';

const READ_TIMEOUT_MS = 20_000;
const MINT_BYTES = 82;
const MINT_DECIMALS_OFFSET = 44;
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';

/** A token account of the classic token program. */
export type SolanaTokenAccount = {
  address: string;
  amount: bigint;
  isFrozen: boolean;
  delegate: string | null;
  delegatedAmount: bigint;
};

/**
 * Calls the chain's nodes in turn until one returns a result or a JSON-RPC error. Throws:
 * - `FlowFailure` if a node returns a JSON-RPC error.
 * - `TurnedAway` if every node rejects the call without processing it.
 * - Any other error, such as a timeout, once all nodes were tried. The node that failed may have processed the call. If
 *   a later request throws a `FlowFailure`, the earlier error becomes the `info.cause` of that `FlowFailure`.
 */
export async function callSolana(
  { rpcUrls, signal }: Pick<WalletSession, 'rpcUrls' | 'signal'>,
  method: string,
  params: unknown[],
): Promise<unknown> {
  let unclear: unknown;
  let refusal: unknown;
  for (const url of rpcUrls) {
    try {
      return await request(url, { method, params }, signal);
    } catch (error) {
      // Sets the cause even if the flow was aborted: a node that failed earlier may have sent the call's transaction.
      if (error instanceof FlowFailure) error.info.cause = unclear;
      if (signal?.aborted) throw error;
      if (error instanceof TurnedAway) refusal = error;
      else if (error instanceof FlowFailure) throw error;
      else unclear = error;
    }
  }
  throw (
    unclear ??
    refusal ??
    new FlowFailure('invalid_input', 'Flows read Solana through your own nodes. Pass rpcUrls for the chain.')
  );
}

/** Thrown if a node did not process the call, for example because of a wrong API key or a rate limit. */
class TurnedAway extends FlowFailure {}
type Reply = { result?: unknown; error?: { code: number; message: string } | null };

async function request(
  url: string,
  call: { method: string; params: unknown[] },
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const response = await abortable(
    signal,
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...call }),
      signal: AbortSignal.timeout(READ_TIMEOUT_MS),
    }),
  );
  const { ok, status } = response;
  const message = `The Solana node responded with ${status}.`;
  // If the status is outside 4xx, or is 408 (timeout), a proxy may have forwarded the call, so the node may have
  // processed it.
  if (!ok && (status < 400 || status > 499 || status === 408)) throw new Error(message);
  // Some nodes send JSON-RPC errors with status 400. Gateways use status 400 too, but without the numeric code of a
  // JSON-RPC error.
  const reply: Reply = ok || status === 400 ? await readReply(response) : {};
  const { error } = reply;
  if (error && (ok || typeof error.code === 'number'))
    throw new FlowFailure('wallet_error', `The Solana node refused ${call.method}: ${error.message}`, {
      details: { rpc_code: error.code },
    });
  if (!ok) throw new TurnedAway('wallet_error', message);
  return reply.result;
}

/**
 * Parses a reply as JSON. If that fails, returns an empty reply for an error status, and throws for a success status.
 */
async function readReply(response: Response): Promise<Reply> {
  try {
    return await response.json();
  } catch (error) {
    if (response.ok) throw error;
    return {};
  }
}

/** Lists an owner's accounts for a mint of the classic token program. */
export async function listTokenAccounts(
  session: Pick<WalletSession, 'rpcUrls' | 'signal'>,
  owner: string,
  mint: string,
): Promise<SolanaTokenAccount[]> {
  const config = { encoding: 'base64', commitment: 'confirmed' };
  const reply = (await callSolana(session, 'getTokenAccountsByOwner', [owner, { mint }, config])) as {
    value: { pubkey: string; account: { owner: string; data: [string, string] } }[];
  };
  return reply.value
    .filter(({ account }) => account.owner === TOKEN_PROGRAM)
    .map(({ pubkey, account }) => parseTokenAccount(pubkey, account.data[0]));
}

/** Returns a mint's decimals, or null if the address is not a mint of the classic token program. */
export async function readMintDecimals(
  session: Pick<WalletSession, 'rpcUrls' | 'signal'>,
  mint: string,
): Promise<number | null> {
  const config = { encoding: 'base64', commitment: 'confirmed' };
  const { value } = (await callSolana(session, 'getAccountInfo', [mint, config])) as {
    value: { owner: string; data: [string, string] } | null;
  };
  const bytes = value?.owner === TOKEN_PROGRAM ? decodeBase64(value.data[0]) : undefined;
  return bytes?.length === MINT_BYTES ? (bytes[MINT_DECIMALS_OFFSET] ?? null) : null;
}

function decodeBase64(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function parseTokenAccount(address: string, base64: string): SolanaTokenAccount {
  const bytes = decodeBase64(base64);
  const data = new DataView(bytes.buffer);
  const hasDelegate = data.getUint32(72, true) === 1;
  return {
    address,
    amount: data.getBigUint64(64, true),
    isFrozen: data.getUint8(108) === 2,
    delegate: hasDelegate ? encodeBase58(bytes.slice(76, 108)) : null,
    delegatedAmount: hasDelegate ? data.getBigUint64(121, true) : 0n,
  };
}

/** Returns a recent blockhash and the last block height at which a transaction that uses the blockhash can land. */
export async function readBlockhash(session: WalletSession) {
  const { value } = (await callSolana(session, 'getLatestBlockhash', [{ commitment: 'confirmed' }])) as {
    value: { blockhash: string; lastValidBlockHeight: number };
  };
  return { blockhash: decodeBase58(value.blockhash), lastValidBlockHeight: value.lastValidBlockHeight };
}
