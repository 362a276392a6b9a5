import type { Hex } from 'viem';
import { readQuantity } from '../chain/evm/quantity.ts';
import type { Db } from '../db/pool.ts';
import { type KeyId, keyId, type OperatorAccount } from './account.ts';
import { findNextNonce, listOperatorAddresses } from './lease-store.ts';
import { readNonce } from './nonces.ts';
import { countOpen, countOpenByChain, countUnfinished } from './store.ts';

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

/** Counts the open transactions of all keys per chain. */
export function countOpenTransactions(db: Db): Promise<{ chain: string; count: number }[]> {
  return countOpenByChain(db);
}

/** Lists the keys with transactions that are not final, current and replaced ones alike. */
export function listUnfinishedKeys(db: Db): Promise<(KeyId & { count: number })[]> {
  return countUnfinished(db);
}

/** Lists the operators that the nodes of this database have used, the most recent first. */
export function listOperators(db: Db): Promise<Hex[]> {
  return listOperatorAddresses(db);
}
