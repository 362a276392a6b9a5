import type { Hex } from 'viem';
import type { EvmChain } from '../chain/evm/client.ts';
import { readQuantity } from '../chain/evm/quantity.ts';
import type { Db } from '../db/pool.ts';
import { type KeyId, keyId, type OperatorAccount } from './account.ts';
import { findNextNonce, listKeys, listOperatorAddresses } from './lease-store.ts';
import { readNonce } from './nonces.ts';
import { countOpen, countOpenByChain, countUnfinished, listOpen } from './store.ts';

/** Describes the operator's key on one chain, for the `operator status` command. */
export async function readOperatorStatus(account: OperatorAccount) {
  const { db, chain, signer } = account;
  const nextNonce = await findNextNonce(db, keyId(account));
  return {
    chain: chain.name,
    address: signer.address,
    balance_wei: String(await readQuantity(chain, 'eth_getBalance', [signer.address, 'latest'])),
    nonce_on_chain: String(await readNonce(account, 'latest')),
    next_nonce: nextNonce === null ? null : String(nextNonce),
    open_transactions: String(await countOpen(db, keyId(account))),
  };
}

/** Describes the nonces of every key that has signed on a chain, and its open transactions. Needs no private key. */
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
        open: open.map(({ nonce, kind, target, attempts }) => ({
          ...{ nonce: String(nonce), kind, target },
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

/** Counts the open transactions of all keys per chain. */
export function countOpenTransactions(db: Db): Promise<{ chain: string; count: number }[]> {
  return countOpenByChain(db);
}

/** Lists the keys with transactions that are not final, current and replaced ones alike. */
export function listUnfinishedKeys(db: Db): Promise<(KeyId & { count: number })[]> {
  return countUnfinished(db);
}

/** Lists the operators that the nodes of this database have used, by protocol, the most recent first. */
export async function listOperators(db: Db): Promise<{ ethereum: Hex[]; solana: string[] }> {
  const addresses = await listOperatorAddresses(db);
  const isEvm = (address: string): address is Hex => address.startsWith('0x');
  return { ethereum: addresses.filter(isEvm), solana: addresses.filter((address) => !isEvm(address)) };
}
