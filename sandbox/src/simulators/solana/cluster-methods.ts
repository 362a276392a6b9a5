import { base58 } from '@scure/base';
import { readBudget } from './fees.ts';
import { API_VERSION, type Node } from './node.ts';
import { readConfig, readKey, readList } from './params.ts';
import { SLOTS_PER_EPOCH, toHex } from './svm.ts';
import { MAX_BLOCKHASH_AGE } from './timeline.ts';

/** Devnet's genesis hash. Clients identify the cluster by it. */
export const GENESIS_HASH = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';

const MAX_FEE_ACCOUNTS = 128;
const FEE_SLOTS = 150;

type Params = readonly unknown[];

export const clusterMethods = {
  getHealth: (node: Node) => {
    node.requireHealth();
    return 'ok';
  },
  getVersion: () => ({ 'solana-core': API_VERSION, 'feature-set': 0 }),
  getGenesisHash: () => GENESIS_HASH,
  getSlot: (node: Node, [options]: Params) => node.bank(readConfig(options)).slot,
  getBlockHeight: (node: Node, [options]: Params) =>
    node.chain.timeline.height(node.bank(readConfig(options)).slot),

  getEpochInfo: (node: Node, [options]: Params) => {
    const { slot } = node.bank(readConfig(options));
    return {
      absoluteSlot: slot,
      blockHeight: node.chain.timeline.height(slot),
      epoch: Math.floor(slot / SLOTS_PER_EPOCH),
      slotIndex: slot % SLOTS_PER_EPOCH,
      slotsInEpoch: SLOTS_PER_EPOCH,
      transactionCount: node.chain.ledger.count(),
    };
  },

  getLatestBlockhash: (node: Node, [options]: Params) => {
    const { slot, context } = node.bank(readConfig(options));
    const { timeline } = node.chain;
    const value = {
      blockhash: base58.encode(timeline.blockhash(slot)),
      lastValidBlockHeight: timeline.height(slot) + MAX_BLOCKHASH_AGE,
    };
    return { context, value };
  },

  isBlockhashValid: (node: Node, [blockhash, options]: Params) => {
    const { slot, context } = node.bank(readConfig(options));
    const hash = Buffer.from(readKey(blockhash));
    return { context, value: node.chain.timeline.findBlockhash(hash, slot) !== undefined };
  },

  /**
   * Returns one fee per recent slot: the lowest prioritization fee among the transactions that locked all the given
   * accounts.
   */
  getRecentPrioritizationFees: (node: Node, [addresses]: Params) => {
    const keys = readList(addresses ?? [], MAX_FEE_ACCOUNTS)
      .map(readKey)
      .map(toHex);
    const head = node.slots().processed;
    const lowest = new Map<number, bigint>();
    for (const { slot, keys: locked, transaction } of node.chain.ledger.since(head - FEE_SLOTS)) {
      const ids = new Set(locked.map(toHex));
      if (!keys.every((key) => ids.has(key))) continue;
      const { price } = readBudget(transaction);
      const known = lowest.get(slot);
      if (known === undefined || price < known) lowest.set(slot, price);
    }
    return Array.from({ length: FEE_SLOTS }, (_, index) => head - FEE_SLOTS + 1 + index)
      .filter((slot) => slot >= 0 && !node.chain.timeline.isSkipped(slot))
      .map((slot) => ({ slot, prioritizationFee: lowest.get(slot) ?? 0n }));
  },
};
