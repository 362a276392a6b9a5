import { createHash } from 'node:crypto';
import { openJournal } from '../journal.ts';
import { createLedger, type Landed, type Ledger } from './ledger.ts';
import { type AccountState, createSvm, type Svm } from './svm.ts';
import { createTimeline, type Timeline } from './timeline.ts';
import { parseTransaction, type WireTransaction } from './wire-transaction.ts';

export type ChainOptions = {
  journalPath: string;
  genesis: readonly { key: Uint8Array; state: AccountState }[];
  /** The number of slots until a block is final. On the public networks, about 31. */
  finalityLag: number;
  /** The duration of a slot in milliseconds. With 0, slots advance only through `mine`. */
  slotMs: number;
  /** The time for new blocks, in seconds. */
  now(): number;
};

export type Slots = { processed: number; confirmed: number; finalized: number };

/** A chain that survives restarts. Callers must await `committed` before they expose anything that they have read. */
export type SolanaChain = {
  ledger: Ledger;
  timeline: Timeline;
  svm: Svm;
  /** Advances through the slots that are due, then returns the latest slot at each commitment level. */
  slots(): Slots;
  /**
   * Executes a transaction in the current slot. Silently drops a transaction that cannot be included in a
   * block.
   */
  submit(transaction: WireTransaction): void;
  /** Executes a transaction after `slots` slots. */
  submitLater(transaction: WireTransaction, slots: number): void;
  mine(slots: number): void;
  /** Skips the next `slots` slots, which get no blocks, and advances to the slot after them. */
  skip(slots: number): void;
  /** Replaces the latest blocks. Throws `RollbackTooDeep` if this would drop a final block. */
  rollBack(depth: number, transactions: 'return' | 'drop'): void;
  setSlotMs(slotMs: number): void;
  /** Resolves when everything done so far is on disk. */
  committed(): Promise<void>;
  close(): Promise<void>;
};

export class RollbackTooDeep extends Error {}

type LandedRecord = { slot: number; time: number; raw: string; ok: boolean };
type PendingRecord = { due: number; raw: string };
type AnchorRecord = { anchor: number; at_ms: number; slot_ms: number };
type Record =
  | LandedRecord
  | PendingRecord
  | AnchorRecord
  | { genesis: string }
  | { fork: number }
  | { gap: { from: number; to: number } };

type Pending = { due: number; transaction: WireTransaction };

const FIRST_SLOT = 1_000;
const CONFIRMATION_LAG = 1;

/** Opens the chain at `journalPath` by executing the journal's transactions again. */
export async function openChain(options: ChainOptions): Promise<SolanaChain> {
  const journal = await openJournal<Record>(options.journalPath);
  const svm = createSvm();
  const timeline = createTimeline('causeway sandbox');
  const ledger = createLedger(svm, timeline);
  for (const { key, state } of options.genesis) ledger.addGenesis(key, state);
  const writer = createWriter(journal.append);
  const stored = foldRecords(journal.records, timeline);

  let anchor: AnchorRecord = stored.anchor ?? newAnchor(FIRST_SLOT, options.slotMs);
  let pending: Pending[] = [];
  let head = Math.max(anchor.anchor, stored.landed.at(-1)?.slot ?? 0);
  let lastTime = 0;

  function replay(): void {
    for (const { slot, time, raw, ok } of stored.landed) {
      const entry = ledger.execute(parse(raw), slot, time);
      if (!isLanded(entry) || (entry.err === null) !== ok)
        throw new Error('replaying the Solana journal failed; delete the data folder to start over');
      lastTime = time;
    }
    pending = stored.pending.map(({ due, raw }) => ({ due, transaction: parse(raw) }));
  }

  const position = () =>
    anchor.slot_ms === 0
      ? anchor.anchor
      : anchor.anchor + Math.floor((Date.now() - anchor.at_ms) / anchor.slot_ms);

  function moveTo(slot: number, slotMs = anchor.slot_ms): void {
    anchor = newAnchor(slot, slotMs);
    writer.write(anchor);
  }

  function land(transaction: WireTransaction, slot: number): void {
    // Block times never decrease, even if the clock does.
    lastTime = Math.max(lastTime, Math.floor(options.now()));
    const entry = ledger.execute(transaction, slot, lastTime);
    if (!isLanded(entry)) return;
    writer.write({ slot, time: lastTime, raw: encode(transaction), ok: entry.err === null });
  }

  function catchUp(): void {
    const target = Math.max(head, position());
    while ((pending[0]?.due ?? Number.POSITIVE_INFINITY) <= target) {
      const next = pending.shift() as Pending;
      head = Math.max(head, next.due);
      while (timeline.isSkipped(head)) head += 1;
      land(next.transaction, head);
    }
    if (target === head) return;
    head = Math.max(head, target);
    ledger.prune(head);
  }

  function slots(): Slots {
    catchUp();
    return {
      processed: head,
      confirmed: timeline.lastBlock(head - CONFIRMATION_LAG),
      finalized: timeline.lastBlock(head - options.finalityLag),
    };
  }

  function submitLater(transaction: WireTransaction, delay: number): void {
    catchUp();
    const entry = { due: head + delay, transaction };
    pending = [...pending, entry].sort((a, b) => a.due - b.due);
    writer.write({ due: entry.due, raw: encode(transaction) });
  }

  function rollBack(depth: number, transactions: 'return' | 'drop'): void {
    const { processed, finalized } = slots();
    const droppable = processed - finalized;
    if (depth > droppable) throw new RollbackTooDeep(`at most ${droppable} slots are not final yet`);
    const from = processed - depth + 1;
    const undone = ledger.undo(from);
    timeline.fork(from);
    writer.write({ fork: from });
    if (transactions === 'return') for (const { transaction } of undone) submitLater(transaction, 1);
  }

  try {
    checkGenesis(journal.records, options, writer.write);
    replay();
  } catch (error) {
    await journal.close();
    throw error;
  }
  moveTo(Math.max(head, position()), options.slotMs);
  return {
    ledger,
    timeline,
    svm,
    slots,
    submit: (transaction) => {
      catchUp();
      land(transaction, head);
    },
    submitLater,
    mine: (count) => {
      catchUp();
      moveTo(head + count);
      catchUp();
    },
    skip: (count) => {
      catchUp();
      const gap = { from: head + 1, to: head + count };
      timeline.skip(gap);
      writer.write({ gap });
      moveTo(gap.to + 1);
      catchUp();
    },
    rollBack,
    setSlotMs: (slotMs) => {
      catchUp();
      moveTo(head, slotMs);
    },
    committed: writer.written,
    close: async () => {
      await writer.written().catch(() => undefined);
      await journal.close();
    },
  };
}

function newAnchor(slot: number, slotMs: number): AnchorRecord {
  return { anchor: slot, at_ms: Date.now(), slot_ms: slotMs };
}

function encode({ raw }: WireTransaction): string {
  return raw.toString('base64');
}

function parse(raw: string): WireTransaction {
  return parseTransaction(Buffer.from(raw, 'base64'));
}

function isLanded(entry: ReturnType<Ledger['execute']>): entry is Landed {
  return typeof entry === 'object' && 'slot' in entry;
}

/**
 * Throws if the genesis accounts have changed since the journal was created, because a replay would produce different
 * balances.
 */
function checkGenesis(records: Record[], { genesis }: ChainOptions, write: (record: Record) => void): void {
  const current = digestGenesis(genesis);
  const stored = records.find((record) => 'genesis' in record);
  if (stored === undefined) write({ genesis: current });
  else if (stored.genesis !== current)
    throw new Error(
      'the Solana accounts have changed since this data folder was created; delete the folder to start over',
    );
}

function digestGenesis(genesis: ChainOptions['genesis']): string {
  const hash = createHash('sha256');
  for (const { key, state } of genesis)
    hash.update(key).update(state.owner).update(state.data).update(state.lamports.toString());
  return hash.digest('hex');
}

/**
 * Applies the recorded forks and gaps to the timeline. Returns the transactions that landed on the current branch, the
 * transactions that are still pending, and the last anchor, from which the current slot is computed.
 */
function foldRecords(records: Record[], timeline: Timeline) {
  let landed: LandedRecord[] = [];
  let pending: PendingRecord[] = [];
  let anchor: AnchorRecord | undefined;
  for (const record of records) {
    if ('fork' in record) {
      timeline.fork(record.fork);
      landed = landed.filter(({ slot }) => slot < record.fork);
    } else if ('gap' in record) timeline.skip(record.gap);
    else if ('anchor' in record) anchor = record;
    else if ('due' in record) pending.push(record);
    else if ('raw' in record) {
      landed.push(record);
      pending = pending.filter(({ raw }) => raw !== record.raw);
    }
  }
  return { landed, pending, anchor };
}

/** Writes records in order. Records that arrive during a write are written together in the next write. */
function createWriter(append: (records: Record[]) => Promise<void>) {
  let batch: Record[] = [];
  let written: Promise<void> = Promise.resolve();
  return {
    write: (record: Record) => {
      batch.push(record);
      if (batch.length > 1) return;
      // If a write fails, all later writes fail too.
      written = written.then(() => {
        const records = batch;
        batch = [];
        return append(records);
      });
      written.catch(() => undefined);
    },
    written: () => written,
  };
}
