import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import {
  deriveWithSeed,
  fundSeed,
  keyOf,
  receiptAddress,
  TOKEN_PROGRAM,
} from '../src/platform/chain/solana/addresses.ts';
import {
  allocateWithSeed,
  initializeMultisig,
  transferLamports,
} from '../src/platform/chain/solana/instructions.ts';
import { MULTISIG_BYTES, readMultisig } from '../src/platform/chain/solana/token-accounts.ts';
import { databaseUrlOf } from './support/database-url.ts';
import { runCauseway } from './support/service.ts';
import {
  EXPIRY_SLOTS,
  FINALITY_SLOTS,
  keyOfSeed,
  seedOf,
  solanaKey,
  solanaWorker,
  UNIT,
  useSolanaSale,
  VAULT,
} from './support/solana-sale.ts';

const sale = useSolanaSale();
const dataDir = mkdtempSync(join(tmpdir(), 'causeway-solana-command-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** Runs `causeway solana` as an operator does, while slots pass. */
const run = (...args: string[]) => runWith({ SOLANA_OPERATOR_KEY: solanaRoles.operator.privateKey }, ...args);
const runWithoutKey = (...args: string[]) => runWith({}, ...args);

async function runWith(settings: Record<string, string>, ...args: string[]) {
  sale.solana.chain.setSlotMs(20);
  try {
    return await runCauseway(['solana', ...args], {
      CAUSEWAY_DATA: dataDir,
      DATABASE_URL: await databaseUrlOf(sale.app),
      RPC_URL_SOLANA_DEVNET: sale.solana.nodes[0]?.url ?? '',
      ...settings,
    });
  } finally {
    sale.solana.chain.setSlotMs(0);
  }
}

async function invest(name: string, amount: bigint): Promise<string> {
  const id = await sale.participate(await sale.buyer(name), amount);
  await solanaWorker(sale).settle();
  sale.mine(FINALITY_SLOTS + 1);
  await solanaWorker(sale).settle();
  expect(await sale.statusOf(id)).toBe('completed');
  return id;
}

test('vaults prints what participations have paid and what others have moved', async () => {
  const before = sale.balanceOf(VAULT);
  await invest('vaults', 7n * UNIT);
  const { code, text } = await run('vaults', 'solana_devnet');
  expect({ code, text }).toEqual({
    code: 0,
    text: `${VAULT}: balance ${before + 7n * UNIT}, settled ${7n * UNIT}, moved by others ${before}\n`,
  });
});

test('close keeps receipts that a backup could need, and closes older ones', async () => {
  const id = await invest('close', UNIT);
  const receipt = () => sale.tokenAccount(receiptAddress(solanaRoles.operator.address, id, 'commit'));
  sale.mine(EXPIRY_SLOTS);
  expect(await run('close', 'solana_devnet')).toMatchObject({
    code: 0,
    text: expect.stringMatching(/^Closed 0 receipts/),
  });
  expect(receipt()).not.toBeNull();
  for (const table of ['operator_transactions', 'operator_attempts'])
    await sql`update ${sql.table(table)} set inserted_at = inserted_at - interval '31 days'`.execute(
      sale.app.ctx.db,
    );
  const before = await dump();
  for (const runAs of [run, runWithoutKey])
    expect(await runAs('close', 'solana_devnet', '--dry-run')).toMatchObject({
      ...{ code: 0, text: expect.stringMatching(/^[12] receipts would be closed\. 0 receipts/) },
    });
  expect(await runWithoutKey('close', 'solana_devnet')).toMatchObject({
    ...{ code: 2, text: expect.stringContaining('SOLANA_OPERATOR_KEY: is required') },
  });
  expect(await dump()).toEqual(before);
  const { code, text } = await run('close', 'solana_devnet');
  expect({ code, text }).toMatchObject({ code: 0, text: expect.stringMatching(/^Closed [12] receipts/) });
  expect(receipt()).toBeNull();
});

/** Returns the rows that the commands touch, and the operator's balance. */
async function dump(): Promise<unknown[]> {
  const { pool } = sale.app.ctx;
  const { rows: transactions } = await pool.query('select t::text from operator_transactions t order by 1');
  const { rows: foreign } = await pool.query('select t::text from foreign_transactions t order by 1');
  return [transactions, foreign, sale.solana.chain.svm.balance(keyOf(solanaRoles.operator.address))];
}

test('fund create and adopt print what they would do, and change nothing', async () => {
  await sale.app.ctx.pool.query(
    `insert into foreign_transactions (chain, signature, address) values ('solana_devnet', $1, 'somebody')`,
    [Buffer.alloc(64, 7)],
  );
  const before = await dump();
  const standby = solanaKey('standby').address;
  const create = [
    'fund',
    'create',
    'planned-sale',
    '--standby',
    standby,
    '--chain',
    'solana_devnet',
    '--dry-run',
  ];
  const planned = await run(...create);
  expect(planned).toMatchObject({ code: 0, text: expect.stringContaining('would be created') });
  const { address } = solanaRoles.operator;
  const named = ['--commit', address, '--refund', address];
  expect(await runWithoutKey(...create, ...named)).toEqual(planned);
  expect(await runWithoutKey(...create)).toMatchObject({
    ...{
      code: 2,
      text: expect.stringContaining('requires --commit, because this process has no commit key'),
    },
  });
  const foreign = await run(...create.slice(0, -1), '--commit', solanaKey('other').address);
  expect(foreign).toMatchObject({
    code: 2,
    text: expect.stringContaining("--commit must be the address of this process's commit key"),
  });
  const keyless = await runWithoutKey(...create.slice(0, -1), ...named);
  expect(keyless).toMatchObject({
    code: 2,
    text: expect.stringContaining('SOLANA_OPERATOR_KEY: is required'),
  });
  expect(await runWithoutKey('adopt', 'solana_devnet', '--dry-run')).toMatchObject({
    ...{ code: 0, text: expect.stringContaining('1 transaction would be adopted') },
  });
  expect(await run('vaults', 'solana_devnet', '--dry-run')).toMatchObject({ code: 2 });
  expect(await dump()).toEqual(before);
});

test('fund create makes the keys of both roles and the standby key signers', async () => {
  const [keys, secret] = ['keys.json', 'refund.json'].map((name) => join(dataDir, name)) as [string, string];
  const standby = solanaKey('standby').address;
  writeFileSync(secret, JSON.stringify([...seedOf('refund')]));
  writeFileSync(keys, JSON.stringify({ solana_devnet: { refund: { file: secret } } }));
  const settings = { SOLANA_OPERATOR_KEY: solanaRoles.operator.privateKey, OPERATOR_KEYS_FILE: keys };
  const create = ['fund', 'create', 'split-sale', '--chain', 'solana_devnet', '--standby'];
  const { code, text } = await runWith(settings, ...create, standby);
  expect({ code, text }).toEqual({ code: 0, text: expect.stringMatching(/^\w{32,44}\n$/) });
  const account = sale.solana.chain.svm.account(keyOf(text.trim()));
  const signers = readMultisig(
    account && { owner: TOKEN_PROGRAM, lamports: account.lamports, data: Buffer.from(account.data) },
  );
  expect(signers).toEqual({
    required: 1,
    signers: [solanaRoles.operator.address, solanaKey('refund').address, standby],
  });
  const taken = await runWith(settings, ...create, solanaKey('refund').address);
  expect(taken).toMatchObject({
    code: 2,
    text: expect.stringContaining("must differ from the operator's keys"),
  });
});

test('fund create refuses an account that needs more than one signature', async () => {
  const { address, seed } = solanaRoles.operator;
  const standby = solanaKey('standby').address;
  const name = fundSeed('joint-sale');
  const fund = deriveWithSeed(address, name, TOKEN_PROGRAM);
  sale.land(keyOfSeed(seed), [
    transferLamports(address, fund, 10_000_000n),
    allocateWithSeed(fund, address, name, MULTISIG_BYTES),
    initializeMultisig(fund, 2, [address, standby]),
  ]);
  sale.mine(FINALITY_SLOTS + 1);
  const found = await run('fund', 'create', 'joint-sale', '--chain', 'solana_devnet', '--standby', standby);
  expect(found).toMatchObject({
    code: 2,
    text: expect.stringContaining(`the fund ${fund} exists, but needs 2 signatures instead of one`),
  });
});

test.each([['close', 'ethereum_sepolia'], ['vaults'], ['close', 'solana_devnet', 'twice']])(
  'a wrong name is refused: %s %s',
  async (...args) => {
    const { code, text } = await run(...args);
    expect(code).not.toBe(0);
    expect(text).toContain(`solana ${args[0]} requires one of solana_mainnet, solana_devnet`);
  },
);
