import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  encodeMessage,
  encodeTransaction,
  signer,
  writable,
} from '@causeway/contracts/encodings/solana-message.ts';
import { base58 } from '@scure/base';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { solanaKey, solanaRoles } from '../../seed/solana-keys.ts';
import { openChain, type SolanaChain } from './chain.ts';
import { solanaGenesis } from './genesis.ts';
import { SYSTEM_PROGRAM } from './programs.ts';
import { parseTransaction } from './wire-transaction.ts';

const receiver = solanaKey('wallet 1').publicKey;
const { vaultOwner } = solanaRoles;
const SOL = 1_000_000_000n;

let folder: string;
let journalPath: string;
let chain: SolanaChain;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-solana-'));
  journalPath = join(folder, 'solana.jsonl');
  chain = await open();
});
afterEach(async () => {
  await chain.close();
  await rm(folder, { recursive: true, force: true });
});

function open(overrides: Partial<Parameters<typeof openChain>[0]> = {}) {
  const options = {
    journalPath,
    genesis: solanaGenesis,
    finalityLag: 31,
    slotMs: 0,
    now: () => 1_800_000_000,
  };
  return openChain({ ...options, ...overrides });
}

async function reopen() {
  await chain.close();
  chain = await open();
}

function transfer(lamports: bigint, slot = chain.slots().processed) {
  const data = Buffer.alloc(12);
  data.writeUInt32LE(2, 0);
  data.writeBigUInt64LE(lamports, 4);
  const accounts = [signer(vaultOwner.publicKey), writable(receiver)];
  const message = encodeMessage({
    feePayer: vaultOwner.publicKey,
    blockhash: chain.timeline.blockhash(slot),
    instructions: [{ program: SYSTEM_PROGRAM, accounts, data }],
  });
  return parseTransaction(Buffer.from(encodeTransaction(message, [vaultOwner.sign(message)])));
}

const received = (slot = chain.slots().processed) => chain.ledger.account(receiver, slot)?.lamports ?? 0n;

test('a committed transaction survives without a clean stop, in its slot and with its status', async () => {
  chain.mine(7);
  const transaction = transfer(3n * SOL);
  chain.submit(transaction);
  await chain.committed();
  const { processed } = chain.slots();
  const copy = await open();
  const found = copy.ledger.find(base58.encode(transaction.signatures[0] as Buffer));
  expect(found).toMatchObject({ slot: processed, err: null, time: 1_800_000_000 });
  expect(copy.slots().processed).toBe(processed);
  expect(copy.timeline.blockhash(processed)).toEqual(chain.timeline.blockhash(processed));
  await copy.close();
});

test('rollbacks, skipped slots and late transactions survive a restart', async () => {
  chain.submit(transfer(3n * SOL));
  chain.mine(5);
  chain.rollBack(6, 'drop');
  chain.skip(4);
  chain.submit(transfer(2n * SOL));
  chain.submitLater(transfer(SOL), 3);
  const slots = chain.slots();
  const { height, blockhash } = chain.timeline;
  const before = [height(slots.processed), blockhash(slots.processed), blockhash(slots.processed - 6)];
  await reopen();
  expect(chain.slots()).toEqual(slots);
  const after = chain.timeline;
  expect([
    after.height(slots.processed),
    after.blockhash(slots.processed),
    after.blockhash(slots.processed - 6),
  ]).toEqual(before);
  expect(received()).toBe(2n * SOL);
  chain.mine(3);
  expect(received()).toBe(3n * SOL);
  await reopen();
  expect(received()).toBe(3n * SOL);
});

test('a restart forgets neither past transactions nor the age of a blockhash', async () => {
  const [landed, unsent] = [transfer(SOL), transfer(2n * SOL)];
  chain.submit(landed);
  chain.mine(150);
  await reopen();
  chain.submit(landed);
  expect(received()).toBe(SOL);
  chain.submit(unsent);
  expect(received()).toBe(3n * SOL);
  chain.mine(1);
  await reopen();
  chain.submit(transfer(3n * SOL, chain.slots().processed - 151));
  expect(received()).toBe(3n * SOL);
});

test('an incomplete last line is dropped; a damaged journal and different genesis accounts are refused', async () => {
  chain.submit(transfer(SOL));
  await chain.close();
  await appendFile(journalPath, '{"slot":1000,"ti');
  chain = await open();
  expect(received()).toBe(SOL);
  await chain.close();
  await expect(open({ genesis: solanaGenesis.slice(1) })).rejects.toThrow('delete the folder to start over');
  const text = await readFile(journalPath, 'utf8');
  await writeFile(journalPath, text.replace('"ok":true', '"ok":false'));
  await expect(open()).rejects.toThrow('delete the data folder to start over');
  await writeFile(journalPath, text);
  chain = await open();
});

test('slots pass by themselves, and a day passes at once', async () => {
  chain.setSlotMs(20);
  const { processed } = chain.slots();
  await expect.poll(() => chain.slots().processed).toBeGreaterThan(processed + 3);
  chain.setSlotMs(0);
  chain.submit(transfer(SOL));
  chain.mine(216_000);
  expect(chain.slots().processed).toBeGreaterThan(216_000);
  chain.submit(transfer(SOL));
  expect(received()).toBe(2n * SOL);
  expect(received(chain.slots().confirmed)).toBe(SOL);
});

test('malformed transactions are refused before they reach the virtual machine', () => {
  const { raw } = transfer(SOL);
  for (let length = 0; length < raw.length; length++)
    expect(() => parseTransaction(raw.subarray(0, length))).toThrow();
  expect(() => parseTransaction(Buffer.concat([raw, Buffer.of(0)]))).toThrow('trailing bytes');
  // Corrupts one byte at a time. A transaction that still parses must be executed or rejected. It must never crash the
  // process.
  for (let at = 0; at < raw.length; at++) {
    for (const value of [0, 1, 2, 127, 128, 255]) {
      const changed = Buffer.from(raw);
      changed[at] = value;
      try {
        chain.submit(parseTransaction(changed));
      } catch (error) {
        expect(error).toMatchObject({ message: expect.any(String) });
      }
    }
  }
  expect(received()).toBe(SOL);
});
