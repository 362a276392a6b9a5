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
 * Calls the chain's nodes in turn until one responds. Throws if no node responds, or if the responding node rejects the call;
 * `info.cause` is then the failure of the node before it, if any.
 */
export async function callSolana(
  { rpcUrls, signal }: Pick<WalletSession, 'rpcUrls' | 'signal'>,
  method: string,
  params: unknown[],
): Promise<unknown> {
  let failure: unknown;
  for (const url of rpcUrls) {
    try {
      return await request(url, { method, params }, signal);
    } catch (error) {
      if (error instanceof FlowFailure) error.info.cause = failure;
      if (error instanceof FlowFailure || signal?.aborted) throw error;
      failure = error;
    }
  }
  throw (
    failure ??
    new FlowFailure('invalid_input', 'Solana is read through your own nodes: pass rpcUrls for the chain.')
  );
}

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
  if (!response.ok) throw new Error(`The Solana node responded with ${response.status}.`);
  const reply = (await response.json()) as { result?: unknown; error?: { code: number; message: string } };
  if (reply.error === undefined) return reply.result;
  throw new FlowFailure('wallet_error', `The Solana node refused ${call.method}: ${reply.error.message}`, {
    details: { rpc_code: reply.error.code },
  });
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

/** Returns the decimals of a mint of the classic token program, or null if the address is no such mint. */
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

/** Returns a recent blockhash and the last block height in which a transaction with it can land. */
export async function readBlockhash(session: WalletSession) {
  const { value } = (await callSolana(session, 'getLatestBlockhash', [{ commitment: 'confirmed' }])) as {
    value: { blockhash: string; lastValidBlockHeight: number };
  };
  return { blockhash: decodeBase58(value.blockhash), lastValidBlockHeight: value.lastValidBlockHeight };
}
