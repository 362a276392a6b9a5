import { chainIdOf } from '../chains.ts';
import type { Causeway } from '../client.ts';
import { sleep } from '../sleep.ts';
import type { EvmChain } from '../wire.ts';
import { type FlowOptions, Stop } from './flow.ts';
import { addChain } from './new-chain.ts';
import type { MinedOrPending } from './replacement.ts';
import type { EvmWallet } from './wallet.ts';
import { hasCode } from './wallet-error.ts';

type Hex = `0x${string}`;

/** A wallet on a chain for the length of a flow. Its node is reached through its own provider alone. */
export type Session = {
  causeway: Causeway;
  wallet: EvmWallet;
  /** Lower case. */
  address: Hex;
  chain: EvmChain;
  chainId: number;
  signal: AbortSignal | undefined;
  confirmWithin: number;
  pollEvery: number;
  rpcUrls: readonly string[];
  /** Told of every transaction that is sent. */
  tell(hash: Hex): void;
  /** What was sent, by its hash, for a node that has not heard of it; the nonce is a guess. */
  sent: Map<Hex, MinedOrPending>;
};

const READ_TIMEOUT = 20_000;
const SWITCH_LOOKS = 10;
const SWITCH_PAUSE = 100;

export function openSession(
  causeway: Causeway,
  { wallet, chain }: { wallet: EvmWallet; chain: EvmChain },
  { signal, confirmWithin = 600_000, pollEvery = 2_000, rpcUrls = {} }: FlowOptions<never>,
  tell: (hash: Hex) => void,
): Session {
  return {
    ...{ causeway, wallet, chain, signal, confirmWithin, pollEvery, tell },
    address: wallet.address.toLowerCase() as Hex,
    chainId: chainIdOf(chain),
    rpcUrls: rpcUrls[chain] ?? [],
    sent: new Map(),
  };
}

/** Ends the waiting, not the work: nobody can take back what a wallet shows its owner. */
export function orAbort<Result>(signal: AbortSignal | undefined, work: Promise<Result>): Promise<Result> {
  if (signal === undefined) return work;
  return new Promise((done, fail) => {
    const stop = () => fail(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(done, fail).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Asks the wallet's node; nothing is shown to its owner. */
export async function readNode(session: Session, method: string, params: unknown[] = []): Promise<unknown> {
  const { wallet, signal } = session;
  const limit = new AbortController();
  const timer = setTimeout(
    () => limit.abort(new Error(`The wallet did not answer ${method} in time.`)),
    READ_TIMEOUT,
  );
  try {
    return await orAbort(limit.signal, orAbort(signal, wallet.provider.request({ method, params })));
  } finally {
    clearTimeout(timer);
  }
}

/** The wallet has the account and is on the chain, or is brought there. */
export async function connectWallet(session: Session): Promise<void> {
  if ((await readAccounts(session)).length === 0) await prompt(session, 'eth_requestAccounts', []);
  await assertAccount(session);
  await ensureChain(session);
}

/** Asks the wallet's owner, once it is sure that it is the right account on the right chain. */
export async function askOwner(session: Session, method: string, params: unknown[]): Promise<unknown> {
  await assertAccount(session);
  await ensureChain(session);
  session.signal?.throwIfAborted();
  return prompt(session, method, params);
}

export async function isOnChain(session: Session): Promise<boolean> {
  return Number(await readNode(session, 'eth_chainId')) === session.chainId;
}

/** An owner may think as long as he likes. */
function prompt({ wallet, signal }: Session, method: string, params: unknown[]): Promise<unknown> {
  return orAbort(signal, wallet.provider.request({ method, params }));
}

async function readAccounts(session: Session): Promise<string[]> {
  const accounts = await readNode(session, 'eth_accounts');
  return Array.isArray(accounts) ? accounts.map((one) => String(one).toLowerCase()) : [];
}

async function assertAccount(session: Session): Promise<void> {
  if ((await readAccounts(session)).includes(session.address)) return;
  throw new Stop('wallet_changed', 'The wallet is on another account than the one this was begun with.');
}

async function ensureChain(session: Session): Promise<void> {
  if (await isOnChain(session)) return;
  await switchChain(session);
  // Some wallets answer before they have switched.
  for (let look = 0; look < SWITCH_LOOKS; look++) {
    if (await isOnChain(session)) return;
    await sleep(SWITCH_PAUSE, session.signal);
  }
  throw wrongChain(session);
}

async function switchChain(session: Session): Promise<void> {
  const params = [{ chainId: `0x${session.chainId.toString(16)}` }];
  try {
    await prompt(session, 'wallet_switchEthereumChain', params);
  } catch (error) {
    if (hasCode(error, 4902) && session.rpcUrls.length > 0)
      await prompt(session, 'wallet_addEthereumChain', [addChain(session.chain, session.rpcUrls)]);
    else if (hasCode(error, 4902, 4200, -32601)) throw wrongChain(session, error);
    else throw error;
  }
}

export function wrongChain({ chain }: Session, cause?: unknown, transactionHash?: Hex): Stop {
  return new Stop('wrong_chain', `The wallet is not on ${chain}.`, { cause, transactionHash });
}
