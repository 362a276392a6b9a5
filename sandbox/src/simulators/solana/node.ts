import { RpcError } from '../rpc-error.ts';
import type { Slots, SolanaChain } from './chain.ts';
import type { Landed } from './ledger.ts';
import { type Commitment, type Config, readCommitment, readOptionalInteger } from './params.ts';
import { isSameKey, TOKEN_PROGRAM } from './programs.ts';
import type { AccountState } from './svm.ts';

/** The faults of a simulated node. Tests and the sandbox's controls change them while the node runs. */
export type NodeFaults = {
  slotsBehind: number;
  /**
   * Whether the node has a transaction history. Without a history, the node finds no transactions, but it still returns
   * the statuses of recent transactions.
   */
  hasHistory: boolean;
  /** Whether the node records inner instructions. */
  recordsInner: boolean;
  /** Whether the node returns null for existing accounts of the token program. */
  hidesTokenAccounts: boolean;
  /** Whether a transaction that the node has acknowledged lands immediately, never or late. */
  sending: 'now' | 'lost' | { lateBySlots: number };
};

export const NO_FAULTS: NodeFaults = {
  slotsBehind: 0,
  hasHistory: true,
  recordsInner: true,
  hidesTokenAccounts: false,
  sending: 'now',
};

/** The chain as of one slot. */
export type Bank = {
  slot: number;
  context: { slot: number; apiVersion: string };
  account(key: Uint8Array): AccountState | null;
};

/** One node's view of the chain. */
export type Node = {
  chain: SolanaChain;
  faults: NodeFaults;
  slots(): Slots;
  /**
   * Returns the bank at `config.commitment`. Throws error -32016 if the bank has not reached `config.minContextSlot`
   * yet.
   */
  bank(config: Config): Bank;
  bankAt(commitment: Commitment): Bank;
  /** Finds a transaction in the node's blocks. */
  find(signature: string): Landed | undefined;
  /** Throws error -32005 if the node is too far behind to be healthy. */
  requireHealth(): void;
  /** Returns a view of this node as if it had stopped following the chain `slots` slots ago. */
  behind(slots: number): Node;
};

export const API_VERSION = '4.0.0';
/** A node that is at least 32 slots behind reports that it is unhealthy. */
const HEALTHY_SLOT_DISTANCE = 32;

export function createNode(chain: SolanaChain, faults: NodeFaults = { ...NO_FAULTS }): Node {
  const { ledger, timeline } = chain;
  const slots = (): Slots => {
    const all = chain.slots();
    const behind = (slot: number) => timeline.lastBlock(slot - faults.slotsBehind);
    return {
      processed: behind(all.processed),
      confirmed: behind(all.confirmed),
      finalized: behind(all.finalized),
    };
  };
  const bankAt = (commitment: Commitment): Bank => {
    const slot = slots()[commitment];
    return {
      slot,
      context: { slot, apiVersion: API_VERSION },
      account: (key) => {
        const state = ledger.account(key, slot);
        return faults.hidesTokenAccounts && state && isSameKey(state.owner, TOKEN_PROGRAM) ? null : state;
      },
    };
  };
  return {
    chain,
    faults,
    slots,
    bankAt,
    bank: (config) => {
      const bank = bankAt(readCommitment(config));
      const minimum = readOptionalInteger(config.minContextSlot, 'minContextSlot') ?? 0;
      if (bank.slot < minimum)
        throw new RpcError(-32_016, 'Minimum context slot has not been reached', { contextSlot: bank.slot });
      return bank;
    },
    find: (signature) => {
      const found = ledger.find(signature);
      return found && found.slot <= slots().processed ? found : undefined;
    },
    behind: (slotsBehind) => createNode(chain, { ...faults, slotsBehind }),
    requireHealth: () => {
      if (faults.slotsBehind < HEALTHY_SLOT_DISTANCE) return;
      throw new RpcError(-32_005, `Node is behind by ${faults.slotsBehind} slots`, {
        numSlotsBehind: faults.slotsBehind,
      });
    },
  };
}
