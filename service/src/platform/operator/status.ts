import type { Hex } from 'viem';
import type { EvmChain } from '../chain/evm/client.ts';
import { readQuantity } from '../chain/evm/node-reads.ts';
import type { SolanaChain } from '../chain/solana/client.ts';
import { readBalance } from '../chain/solana/reads.ts';
import type { Db } from '../db/pool.ts';
import { listKeys, listOperatorAddresses } from './lease-store.ts';
import { countOpen, listOpen } from './store.ts';

export async function readOperatorStatus(db: Db, chain: EvmChain) {
  const keys = await listKeys(db, chain.name);
  return Promise.all(
    keys.map(async ({ address, nextNonce }) => ({
      ...{ chain: chain.name, address },
      balance_wei: String(await readQuantity(chain, 'eth_getBalance', [address, 'latest'])),
      nonce_on_chain: String(await readQuantity(chain, 'eth_getTransactionCount', [address, 'latest'])),
      next_nonce: toText(nextNonce),
      open_transactions: String(await countOpen(db, { chain: chain.name, address })),
    })),
  );
}

export async function readSolanaStatus(db: Db, chain: SolanaChain) {
  const keys = await listKeys(db, chain.name);
  return Promise.all(
    keys.map(async ({ address }) => ({
      ...{ chain: chain.name, address },
      balance_lamports: String(await readBalance(chain, address)),
      open_transactions: String(await countOpen(db, { chain: chain.name, address })),
    })),
  );
}

/** Its nonces and its open transactions. Needs no private key. */
export async function readNonces(db: Db, chain: EvmChain) {
  const keys = await listKeys(db, chain.name);
  return Promise.all(
    keys.map(async ({ address, nextNonce, seenNonce, node, epoch, leaseUntil }) => {
      const count = (tag: string) => readQuantity(chain, 'eth_getTransactionCount', [address, tag]);
      const open = await listOpen(db, { chain: chain.name, address });
      return {
        chain: chain.name,
        address,
        next_nonce: toText(nextNonce),
        seen_nonce: toText(seenNonce),
        nonce_on_chain: String(await count('latest')),
        pending_nonce_on_chain: String(await count('pending')),
        lease: { node, epoch: String(epoch), until: leaseUntil },
        open: open.map(({ nonce, kind, target, requested, attempts }) => ({
          ...{ nonce: String(nonce), kind, target, requested },
          attempts: attempts.map(({ hash, maxFee, priorityFee, age, sentAge }) => ({
            ...{ hash, max_fee_wei: String(maxFee), priority_fee_wei: String(priorityFee) },
            ...{ age_seconds: Math.round(age), sent: sentAge !== null },
          })),
        })),
      };
    }),
  );
}

function toText(nonce: bigint | null): string | null {
  return nonce === null ? null : String(nonce);
}

/** The state of a key on its chain. `nonce` is null on chains whose transactions have no nonces. */
export type KeyOnChain = { balance: bigint; nonce: bigint | null };

export async function readKeyOnChain(chain: EvmChain | SolanaChain, address: string): Promise<KeyOnChain> {
  if (chain.facts.protocol === 'solana')
    return { balance: await readBalance(chain as SolanaChain, address), nonce: null };
  const [balance, nonce] = await Promise.all([
    readQuantity(chain as EvmChain, 'eth_getBalance', [address, 'latest']),
    readQuantity(chain as EvmChain, 'eth_getTransactionCount', [address, 'latest']),
  ]);
  return { balance, nonce };
}

/** Converts wei to ether, or lamports to SOL, for people and metrics. */
export function coinsOf({ facts }: Pick<EvmChain | SolanaChain, 'facts'>, amount: bigint): number {
  return Number(amount) / (facts.protocol === 'solana' ? 1e9 : 1e18);
}

/** Returns how many days a balance lasts if the key keeps spending as much as in the last 24 hours. */
export function daysLeft(balance: bigint, spent: bigint): number {
  return spent === 0n ? Number.POSITIVE_INFINITY : Number((balance * 100n) / spent) / 100;
}

export async function listOperators(db: Db): Promise<{ ethereum: Hex[]; solana: string[] }> {
  const addresses = await listOperatorAddresses(db);
  const isEvm = (address: string): address is Hex => address.startsWith('0x');
  return { ethereum: addresses.filter(isEvm), solana: addresses.filter((address) => !isEvm(address)) };
}
