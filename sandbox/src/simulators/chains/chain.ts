import type { Hex } from 'viem';
import { isHex, keccak256, numberToHex, toHex } from 'viem/utils';
import { createEvm, type Evm, type EvmOptions, type RpcRequest } from './evm.ts';
import { type BlockJournal, type BlockRecord, openBlockJournal } from './journal.ts';

export type ChainOptions = {
  genesis: Omit<EvmOptions, 'automine' | 'genesisTimestamp'> & { genesisTimestamp: number };
  journalPath: string;
  /** The sandbox clock, in seconds. */
  now(): number;
};

export type ReorgOptions = {
  depth: number;
  /** Whether the transactions in the dropped blocks return to the mempool or are discarded. */
  transactions: 'return' | 'drop';
};

/** A chain that survives restarts. Writes every block to disk before it sends a reply that depends on the block. */
export type Chain = {
  /**
   * Handles an RPC request. A sent transaction is mined before the reply, unless blocks are mined at an
   * interval.
   */
  request(args: RpcRequest): Promise<unknown>;
  mine(blocks: number): Promise<void>;
  /** Mines the transactions in the mempool. If none of them can be mined, mines no block. */
  minePending(): Promise<void>;
  /**
   * Replaces the latest blocks with the same number of empty blocks. Throws `ReorgTooDeep` if a protected block would
   * be dropped.
   */
  reorg(options: ReorgOptions): Promise<void>;
  /**
   * Mines a block every `intervalMs`, even if the block is empty. If `intervalMs` is 0, mines whenever a transaction
   * arrives.
   */
  setBlockInterval(intervalMs: number): void;
  height(): number;
  close(): Promise<void>;
};

type State = {
  options: ChainOptions;
  journal: BlockJournal;
  evm: Evm;
  blocks: BlockRecord[];
  forks: number;
  /** Raw transactions not mined yet, by hash. */
  pending: Map<Hex, Hex>;
};

export class ReorgTooDeep extends Error {}

/**
 * Opens a chain by replaying the blocks in the journal at `journalPath`. The first `protectedBlocks()` blocks cannot be
 * dropped.
 */
export async function openChain(options: ChainOptions, protectedBlocks = () => 0): Promise<Chain> {
  const journal = await openBlockJournal(options.journalPath);
  const { blocks, forks } = journal;
  const evm = await replay(options, blocks).catch(async (error) => {
    await journal.close();
    throw error;
  });
  const state: State = { options, journal, evm, blocks, forks, pending: new Map() };

  // Resolves when the block in progress is on disk. Replies wait for this promise, so that a crash cannot lose anything
  // that a caller has seen.
  let committed: Promise<void> = Promise.resolve();
  let nextBlock: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let blockIntervalMs = 0;

  function runExclusively(work: () => Promise<void>): Promise<void> {
    const run = committed.then(work);
    // If a block could not be written, every later request fails too.
    committed = run.catch((error) => {
      if (!(error instanceof ReorgTooDeep)) throw error;
    });
    committed.catch(() => undefined);
    return run;
  }

  // Transactions that arrive while a block is being written share the next block.
  function minePending(): Promise<void> {
    nextBlock ??= runExclusively(() => {
      nextBlock = undefined;
      return mineWhileExecutable(state);
    });
    return nextBlock;
  }

  // Runs exclusively, so that the chain cannot mine a block or switch to another branch while the node accepts or
  // rejects the transaction.
  async function sendTransaction(args: RpcRequest): Promise<unknown> {
    let outcome: PromiseSettledResult<unknown> | undefined;
    await runExclusively(async () => {
      [outcome] = await Promise.allSettled([acceptTransaction(state, args)]);
    });
    if (outcome?.status !== 'fulfilled') throw outcome?.reason;
    await (blockIntervalMs === 0 ? minePending() : committed);
    return outcome.value;
  }

  function setBlockInterval(intervalMs: number): void {
    blockIntervalMs = intervalMs;
    clearInterval(timer);
    if (intervalMs > 0)
      timer = setInterval(() => runExclusively(() => mineBlock(state)).catch(() => undefined), intervalMs);
    else minePending().catch(() => undefined);
  }

  return {
    request: async (args) => {
      if (args.method === 'eth_sendRawTransaction') return sendTransaction(args);
      const result = await state.evm.request(args);
      await committed;
      return result;
    },
    mine: (count) =>
      runExclusively(async () => {
        for (let i = 0; i < count; i++) await mineBlock(state);
      }),
    minePending,
    reorg: (reorgOptions) => runExclusively(() => switchBranch(state, reorgOptions, protectedBlocks())),
    setBlockInterval,
    height: () => state.blocks.length,
    close: async () => {
      clearInterval(timer);
      await committed.catch(() => undefined);
      await journal.close();
    },
  };
}

async function replay({ genesis }: ChainOptions, blocks: BlockRecord[]): Promise<Evm> {
  const evm = await createEvm({ ...genesis, automine: false });
  for (const { timestamp, randao, baseFee, transactions } of blocks) {
    for (const raw of transactions) await evm.request({ method: 'eth_sendRawTransaction', params: [raw] });
    await evm.request({ method: 'hardhat_setNextBlockBaseFeePerGas', params: [baseFee] });
    await produceBlock(evm, timestamp, randao);
  }
  const last = blocks.at(-1);
  // Comparing the last hash is enough, because it covers all earlier blocks.
  if (last && (await latestBlock(evm)).hash !== last.hash) {
    throw new Error(
      'replaying the chain journal did not reproduce its blocks; delete the data folder to start over',
    );
  }
  return evm;
}

async function produceBlock(evm: Evm, timestamp: number, randao: Hex): Promise<void> {
  await evm.request({ method: 'hardhat_setPrevRandao', params: [randao] });
  await evm.request({ method: 'evm_setNextBlockTimestamp', params: [numberToHex(timestamp)] });
  await evm.request({ method: 'evm_mine' });
}

type MinedBlock = { hash: Hex; baseFeePerGas: Hex; transactions: Hex[] };

async function latestBlock(evm: Evm): Promise<MinedBlock> {
  const block = await evm.request({ method: 'eth_getBlockByNumber', params: ['latest', false] });
  return block as MinedBlock;
}

async function produceRecord(state: State, evm: Evm, blocks: BlockRecord[]): Promise<BlockRecord> {
  const { genesis, now } = state.options;
  const block = blocks.length + 1;
  // Blocks may have equal timestamps. Otherwise mining many blocks at once would put the chain ahead of the clock, and
  // quotes would expire on chain before they expire by the clock.
  const timestamp = Math.max(blocks.at(-1)?.timestamp ?? genesis.genesisTimestamp, Math.floor(now()));
  const randao = keccak256(toHex(`${genesis.chainId}:${block}:${state.forks}`));
  await produceBlock(evm, timestamp, randao);
  const { hash, baseFeePerGas, transactions } = await latestBlock(evm);
  return {
    block,
    hash,
    timestamp,
    randao,
    baseFee: baseFeePerGas,
    transactions: transactions.map((hash) => rawTransaction(state, hash)),
  };
}

function rawTransaction({ pending }: State, hash: Hex): Hex {
  const raw = pending.get(hash);
  if (raw === undefined) throw new Error(`block contains ${hash}, which was never sent`);
  return raw;
}

async function mineBlock(state: State): Promise<void> {
  const record = await produceRecord(state, state.evm, state.blocks);
  state.blocks.push(record);
  for (const raw of record.transactions) state.pending.delete(keccak256(raw));
  await state.journal.append([record]);
}

async function mineWhileExecutable(state: State): Promise<void> {
  while (await hasExecutable(state)) {
    await mineBlock(state);
    if (state.blocks.at(-1)?.transactions.length === 0) return;
  }
}

// Checks whether any pending transaction can be mined now. A transaction with a future nonce cannot: the transactions
// before it must be mined first. Also removes pending transactions that the node no longer knows because they were
// replaced.
async function hasExecutable({ evm, pending }: State): Promise<boolean> {
  for (const hash of [...pending.keys()]) {
    const transaction = await evm.request({ method: 'eth_getTransactionByHash', params: [hash] });
    if (!transaction) {
      pending.delete(hash);
      continue;
    }
    const { from, nonce } = transaction as { from: Hex; nonce: Hex };
    const nextNonce = await evm.request({ method: 'eth_getTransactionCount', params: [from, 'latest'] });
    if (Number(nextNonce) === Number(nonce)) return true;
  }
  return false;
}

async function acceptTransaction(state: State, args: RpcRequest): Promise<unknown> {
  const hash = await state.evm.request(args);
  const raw = Array.isArray(args.params) ? args.params[0] : undefined;
  if (isHex(raw)) state.pending.set(keccak256(raw), raw);
  return hash;
}

async function switchBranch(
  state: State,
  { depth, transactions }: ReorgOptions,
  protectedBlocks: number,
): Promise<void> {
  const { options, journal } = state;
  const droppable = state.blocks.length - protectedBlocks;
  if (depth > droppable) throw new ReorgTooDeep(`at most ${droppable} blocks can be dropped`);
  const kept = state.blocks.slice(0, state.blocks.length - depth);
  const dropped = state.blocks.slice(kept.length).flatMap((block) => block.transactions);
  const pending = [...state.pending.values()];
  const evm = await replay(options, kept);
  state.forks += 1;
  const added: BlockRecord[] = [];
  for (let i = 0; i < depth; i++) added.push(await produceRecord(state, evm, [...kept, ...added]));
  await journal.append([{ drop: depth }, ...added]);
  state.evm = evm;
  state.blocks = [...kept, ...added];
  state.pending.clear();
  for (const raw of transactions === 'return' ? [...dropped, ...pending] : pending) {
    await acceptTransaction(state, { method: 'eth_sendRawTransaction', params: [raw] }).catch(
      () => undefined,
    );
  }
}
