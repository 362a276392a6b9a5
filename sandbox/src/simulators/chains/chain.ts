import type { Hex } from 'viem';
import { isHex, keccak256, numberToHex, toHex } from 'viem/utils';
import { createEvm, type Evm, type EvmOptions, type RpcRequest } from './evm.ts';
import { type BlockRecord, type Journal, openJournal } from './journal.ts';

export type ChainOptions = {
  genesis: Omit<EvmOptions, 'automine' | 'genesisTimestamp'> & { genesisTimestamp: number };
  journalPath: string;
  /** The sandbox clock, in seconds. */
  now(): number;
};

export type ReorgOptions = {
  depth: number;
  /** What becomes of the transactions in the dropped blocks: back to the mempool, unmined, or gone for good. */
  transactions: 'return' | 'drop';
};

/** A chain that outlives its process: every block is on the disk before anyone hears of it. */
export type Chain = {
  /** Answers like a node. A sent transaction is mined before the reply leaves, unless blocks come by interval. */
  request(args: RpcRequest): Promise<unknown>;
  mine(blocks: number): Promise<void>;
  /** Replaces the last blocks by as many others, without transactions. Never touches the first `floor` blocks. */
  reorg(options: ReorgOptions): Promise<void>;
  /** 0 mines on every transaction, otherwise a block every so many milliseconds, empty ones too. */
  setBlockInterval(milliseconds: number): void;
  height(): number;
  close(): Promise<void>;
};

type State = {
  options: ChainOptions;
  journal: Journal;
  evm: Evm;
  blocks: BlockRecord[];
  forks: number;
  /** What waits to be mined, by hash. */
  pending: Map<Hex, Hex>;
};

export class ReorgTooDeep extends Error {}

/** Opens the chain kept at `journalPath`, mining all its blocks again; a new one is at its genesis block. */
export async function openChain(options: ChainOptions, floor = () => 0): Promise<Chain> {
  const journal = await openJournal(options.journalPath);
  const { blocks, forks } = journal;
  const evm = await replay(options, blocks).catch(async (error) => {
    await journal.close();
    throw error;
  });
  const state: State = { options, journal, evm, blocks, forks, pending: new Map() };

  // Replies wait for the block that is being written, so that nothing seen can be lost in a crash.
  let committed: Promise<void> = Promise.resolve();
  let nextRound: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let interval = 0;

  function exclusively(work: () => Promise<void>): Promise<void> {
    const run = committed.then(work);
    // A block that could not be written was never mined: from then on the chain answers nothing.
    committed = run.catch((error) => {
      if (!(error instanceof ReorgTooDeep)) throw error;
    });
    committed.catch(() => undefined);
    return run;
  }

  // Transactions that arrive while a block is being written share the next one.
  function minePending(): Promise<void> {
    nextRound ??= exclusively(() => {
      nextRound = undefined;
      return mineWhileExecutable(state);
    });
    return nextRound;
  }

  // In its turn, so that no block is mined and no branch is switched while nobody knows whether the node takes it.
  async function sendTransaction(args: RpcRequest): Promise<unknown> {
    let answer: PromiseSettledResult<unknown> | undefined;
    await exclusively(async () => {
      [answer] = await Promise.allSettled([acceptTransaction(state, args)]);
    });
    if (answer?.status !== 'fulfilled') throw answer?.reason;
    await (interval === 0 ? minePending() : committed);
    return answer.value;
  }

  function setBlockInterval(milliseconds: number): void {
    interval = milliseconds;
    clearInterval(timer);
    if (interval > 0)
      timer = setInterval(() => exclusively(() => mineBlock(state)).catch(() => undefined), interval);
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
      exclusively(async () => {
        for (let i = 0; i < count; i++) await mineBlock(state);
      }),
    reorg: (reorgOptions) => exclusively(() => switchBranch(state, reorgOptions, floor())),
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
  for (const { timestamp, randao, transactions } of blocks) {
    for (const raw of transactions) await evm.request({ method: 'eth_sendRawTransaction', params: [raw] });
    await produceBlock(evm, timestamp, randao);
  }
  const last = blocks.at(-1);
  // Each hash covers all the blocks before it.
  if (last && (await latestBlock(evm)).hash !== last.hash) {
    throw new Error(
      'the chain journal does not lead to the blocks it lists: delete the data folder to start over',
    );
  }
  return evm;
}

async function produceBlock(evm: Evm, timestamp: number, randao: Hex): Promise<void> {
  await evm.request({ method: 'hardhat_setPrevRandao', params: [randao] });
  await evm.request({ method: 'evm_setNextBlockTimestamp', params: [numberToHex(timestamp)] });
  await evm.request({ method: 'evm_mine' });
}

async function latestBlock(evm: Evm): Promise<{ hash: Hex; transactions: Hex[] }> {
  const block = await evm.request({ method: 'eth_getBlockByNumber', params: ['latest', false] });
  return block as { hash: Hex; transactions: Hex[] };
}

async function produceRecord(state: State, evm: Evm, blocks: BlockRecord[]): Promise<BlockRecord> {
  const { genesis, now } = state.options;
  const block = blocks.length + 1;
  // Equal timestamps are allowed: time must not run ahead of the clock when many blocks are mined at once,
  // or what expires on chain would no longer agree with what expires elsewhere.
  const timestamp = Math.max(blocks.at(-1)?.timestamp ?? genesis.genesisTimestamp, Math.floor(now()));
  const randao = keccak256(toHex(`${genesis.chainId}:${block}:${state.forks}`));
  await produceBlock(evm, timestamp, randao);
  const { hash, transactions } = await latestBlock(evm);
  return { block, hash, timestamp, randao, transactions: transactions.map((tx) => rawOf(state, tx)) };
}

function rawOf({ pending }: State, hash: Hex): Hex {
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

// A transaction whose nonce is ahead waits for the ones before it; an outbid one will never be mined.
async function hasExecutable({ evm, pending }: State): Promise<boolean> {
  for (const hash of [...pending.keys()]) {
    const transaction = await evm.request({ method: 'eth_getTransactionByHash', params: [hash] });
    if (!transaction) {
      pending.delete(hash);
      continue;
    }
    const { from, nonce } = transaction as { from: Hex; nonce: Hex };
    const next = await evm.request({ method: 'eth_getTransactionCount', params: [from, 'latest'] });
    if (Number(next) === Number(nonce)) return true;
  }
  return false;
}

async function acceptTransaction(state: State, args: RpcRequest): Promise<unknown> {
  const answer = await state.evm.request(args);
  const raw = Array.isArray(args.params) ? args.params[0] : undefined;
  if (isHex(raw)) state.pending.set(keccak256(raw), raw);
  return answer;
}

async function switchBranch(
  state: State,
  { depth, transactions }: ReorgOptions,
  floor: number,
): Promise<void> {
  const { options, journal } = state;
  if (depth > state.blocks.length - floor)
    throw new ReorgTooDeep(`only ${state.blocks.length - floor} blocks can be dropped`);
  const kept = state.blocks.slice(0, state.blocks.length - depth);
  const dropped = state.blocks.slice(kept.length).flatMap((block) => block.transactions);
  const waiting = [...state.pending.values()];
  const evm = await replay(options, kept);
  state.forks += 1;
  const others: BlockRecord[] = [];
  for (let i = 0; i < depth; i++) others.push(await produceRecord(state, evm, [...kept, ...others]));
  await journal.append([{ drop: depth }, ...others]);
  state.evm = evm;
  state.blocks = [...kept, ...others];
  state.pending.clear();
  for (const raw of transactions === 'return' ? [...dropped, ...waiting] : waiting) {
    await acceptTransaction(state, { method: 'eth_sendRawTransaction', params: [raw] }).catch(
      () => undefined,
    );
  }
}
