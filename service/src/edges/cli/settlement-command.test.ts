import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { commandConfig, saleWorker, UNIT } from '../../../test/support/sale.ts';
import { forgetTransaction, useSale } from '../../../test/support/settlement.ts';
import { resumeSettlement } from '../../domain/settlement/pause.ts';
import { reconcileFunds } from '../../domain/settlement/reconcile-pass.ts';
import type { Config } from '../../kernel/config/config.ts';
import { run as runOperator } from './operator-command.ts';
import { run as runSettlement } from './settlement-command.ts';

const sale = useSale();
let config: Config;
beforeAll(async () => {
  config = await commandConfig(sale);
});
afterEach(() => {
  process.exitCode = undefined;
  sale.resumeMining();
  vi.restoreAllMocks();
});

async function run(command: typeof runSettlement, ...args: string[]): Promise<string> {
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  log.mockClear();
  await command(config, args);
  return log.mock.calls.flat().join('\n');
}

describe('settlement', () => {
  test.each([
    ['an offer', 'harbour-sale'],
    ['a chain', 'ethereum_sepolia'],
    ['everything', undefined],
  ])('pause stops commits and refunds of %s until resume', async (_name, subject) => {
    const args = subject === undefined ? [] : [subject];
    expect(await run(runSettlement, 'pause', ...args, '--dry-run')).toContain('would be paused');
    expect(JSON.parse(await run(runSettlement, 'status')).paused).toEqual([]);
    expect(await run(runSettlement, 'pause', ...args, '--message', 'audit')).toContain('paused');
    expect(await run(runSettlement, 'pause', ...args)).toContain('is already paused');
    const { id } = await sale.participate(sale.buyer(0), 2n * UNIT);
    await saleWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('pending');
    const status = JSON.parse(await run(runSettlement, 'status'));
    expect(status.paused).toMatchObject([{ subject: subject ?? '*', reason: 'operator', message: 'audit' }]);
    expect(status.backlog).toMatchObject([{ chain: 'ethereum_sepolia', status: 'pending', count: 1 }]);
    expect(await run(runSettlement, 'resume', ...args)).toContain('resumed');
    expect(await run(runSettlement, 'resume', ...args)).toContain('is not paused');
    await saleWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('rejects unknown names, commands and options, and changes nothing', async () => {
    await expect(run(runSettlement, 'pause', 'nonsense')).rejects.toThrow('neither a chain nor the slug');
    await expect(run(runSettlement, 'dance')).rejects.toThrow('status, pause or resume');
    await expect(run(runSettlement, 'status', 'nonsense')).rejects.toThrow('neither a chain nor the slug');
    await expect(run(runSettlement, 'status', '--dry-run')).rejects.toThrow('changes nothing');
    await expect(run(runSettlement, 'resume', '--message', 'x')).rejects.toThrow('--message');
    expect(JSON.parse(await run(runSettlement, 'status')).paused).toEqual([]);
  });
});

describe('settlement status', () => {
  const status = async (...args: string[]) => JSON.parse(await run(runSettlement, 'status', ...args));

  test('shows backlog, lease, last round, balance and stuck transactions, without a private key', async () => {
    expect(config.operatorKey).toBeNull();
    const { id } = await sale.participate(sale.buyer(4), 2n * UNIT);
    sale.pauseMining();
    await saleWorker(sale).round();
    await sale.app.ctx.pool.query(
      "update operator_transactions set inserted_at = now() - interval '1 hour' where state = 'open'",
    );
    for (const subject of [[], ['ethereum_sepolia'], ['harbour-sale']]) {
      const { backlog, chains } = await status(...subject);
      expect(backlog).toMatchObject([{ chain: 'ethereum_sepolia', status: 'submitted', count: 1 }]);
      expect(chains).toHaveLength(1);
      const [key] = chains[0].keys;
      expect(key.lease.held_by_node).toBe(sale.app.ctx.node);
      expect(key.last_round_at).toMatch(/^20/);
      expect(BigInt(key.balance)).toBeGreaterThan(0n);
      expect(key).toMatchObject({ nonce_gap: 1, open_transactions: 1 });
      expect(key.balance_days).toBeGreaterThan(0);
      expect(key.stuck_transactions).toMatchObject([{ kind: 'commit' }]);
      expect(key.stuck_transactions[0].age_seconds).toBeGreaterThanOrEqual(3_600);
    }
    expect(await status('solana_mainnet')).toEqual({
      ...{ paused: [], backlog: [] },
      chains: [
        {
          ...{ chain: 'solana_mainnet', keys: [] },
          reconciliation: { finished_at: null, to_block: null, differences: [] },
        },
      ],
    });
    await sale.mine(1);
    await saleWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('completed');
    expect((await status()).chains[0].keys[0]).toMatchObject({
      open_transactions: 0,
      stuck_transactions: [],
    });
  });

  test('shows the differences of the last reconciliation of a chain and of an offer, and who is paused', async () => {
    const { db, pool } = sale.app.ctx;
    await pool.query('update participations set amount = amount + 1');
    const evm = sale.app.ctx.chains.evm('ethereum_sepolia');
    await reconcileFunds(sale.app.ctx, evm, { seconds: 0, delayMs: 1 });
    for (const subject of ['ethereum_sepolia', 'harbour-sale']) {
      const { chains, paused } = await status(subject);
      expect(chains[0].reconciliation.finished_at).toMatch(/^20/);
      expect(chains[0].reconciliation.differences[0]).toMatchObject({ offers: ['harbour-sale'] });
      expect(paused).toMatchObject(subject === 'harbour-sale' ? [{ reason: 'unreconciled' }] : []);
    }
    await pool.query('update participations set amount = amount - 1');
    await resumeSettlement({ db }, 'harbour-sale');
    expect((await status('harbour-sale')).chains[0].reconciliation.differences).toEqual([]);
  });

  test('answers without a chain that can be read', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    await runSettlement({ ...config, rpcUrls: { ethereum_sepolia: ['http://127.0.0.1:9'] } }, ['status']);
    const { chains } = JSON.parse(log.mock.calls.flat().join());
    expect(chains[0].keys[0]).toMatchObject({ balance: null, balance_days: null, nonce_gap: null });
  });
});

describe('operator nonces', () => {
  test('shows the nonces and open transactions of every key, without a private key', async () => {
    const { id } = await sale.participate(sale.buyer(2), 2n * UNIT);
    sale.pauseMining();
    await saleWorker(sale).round();
    expect(await sale.statusOf(id)).toBe('submitted');
    const shown = JSON.parse(await run(runOperator, 'nonces', 'ethereum_sepolia'));
    expect(shown).toMatchObject({ chain: 'ethereum_sepolia', seen_nonce: null, open: [{ kind: 'commit' }] });
    expect(Number(shown.next_nonce)).toBe(Number(shown.nonce_on_chain) + 1);
    expect(shown.pending_nonce_on_chain).toBe(shown.next_nonce);
    expect(shown.open[0].nonce).toBe(shown.nonce_on_chain);
    expect(shown.open[0].attempts).toMatchObject([{ sent: true }]);
    await sale.mine(1);
    await saleWorker(sale).settle();
    await expect(run(runOperator, 'nonces', 'solana_devnet')).rejects.toThrow('not an EVM chain');
  });
});

describe('operator', () => {
  test('rotate names the roles and the gas that a new key lacks, and what the old one has to finish', async () => {
    const { id } = await sale.participate(sale.buyer(3), 2n * UNIT);
    sale.pauseMining();
    await saleWorker(sale).round();
    const rotate = async (to: string) =>
      JSON.parse(await run(runOperator, 'rotate', 'ethereum_sepolia', '--to', to));
    const other = '0x00000000000000000000000000000000000000aa';
    const plan = await rotate(other);
    expect(plan).toMatchObject({
      is_ready: false,
      funds: [{ fund: sale.fund, missing: ['commit', 'remit'] }],
    });
    expect(plan.unfinished[0]?.transactions).toBeGreaterThan(0);
    expect(plan.steps.join()).toMatch(/Grant .*OPERATOR_RETIRED_KEYS.*transactions are final/);
    expect(process.exitCode).toBe(1);
    process.exitCode = undefined;
    const [{ address }] = (await sale.app.ctx.db.selectFrom('operator_keys').select('address').execute()) as [
      { address: string },
    ];
    expect(await rotate(address)).toMatchObject({ is_ready: true, unfinished: [] });
    expect(process.exitCode).toBeUndefined();
    await expect(rotate('x')).rejects.toThrow('--to');
    await sale.mine(1);
    await saleWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('status shows the balance of every key without a private key', async () => {
    const status = JSON.parse(await run(runOperator, 'status'));
    expect(status).toMatchObject({ chain: 'ethereum_sepolia', open_transactions: '0' });
    expect(BigInt(status.balance_wei)).toBeGreaterThan(0n);
  });
});

describe('operator reconcile', () => {
  test('prints a plan, writes it once it is confirmed, and needs no private key', async () => {
    const reconcile = (...args: string[]) => run(runOperator, 'reconcile', 'ethereum_sepolia', ...args);
    expect(await reconcile()).toContain('The chain and the database agree.');
    const { id } = await sale.participate(sale.buyer(1), 3n * UNIT);
    sale.pauseMining();
    await saleWorker(sale).round();
    await forgetTransaction(sale, id, 'commit');
    await sale.mine(1);
    expect(await reconcile('--dry-run')).toContain(`${id} becomes completed`);
    await expect(reconcile()).rejects.toThrow('Not confirmed');
    expect(await sale.statusOf(id)).toBe('pending');
    await reconcile('--yes');
    expect(await sale.statusOf(id)).toBe('completed');
    expect(process.exitCode).toBeUndefined();
  });

  test('--report has the totals of every fund, is signed, and names exactly the row that was tampered with', async () => {
    const { pool } = sale.app.ctx;
    const report = async () => {
      const out = vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
      vi.spyOn(console, 'error').mockImplementation(() => undefined);
      await runOperator(config, ['reconcile', '--report']);
      const text = String(out.mock.calls.at(-1)?.[0]);
      out.mockRestore();
      const signed = JSON.parse(text);
      return { ...signed.chains[0], signed };
    };
    await saleWorker(sale).settle();
    const { signed, ...clean } = await report();
    expect(signed).toMatchObject({ object: 'reconcile_report', agrees: true });
    expect(clean).toMatchObject({ chain: 'ethereum_sepolia', agrees: true, differences: [] });
    expect(clean.offers).toEqual([{ offer: 'harbour-sale', agrees: true }]);
    expect(clean.funds).toMatchObject([{ fund: sale.fund, offers: ['harbour-sale'], agrees: true }]);
    expect(clean.funds[0].chain).toEqual(clean.funds[0].database);
    expect(process.exitCode).toBeUndefined();
    const file = join(mkdtempSync(join(tmpdir(), 'causeway-report-')), 'report.json');
    const verify = async (document: object) => {
      writeFileSync(file, JSON.stringify(document));
      return run(runOperator, 'verify', file, '--key', signed.public_key);
    };
    expect(await verify(signed)).toContain('valid');
    expect(await verify({ ...signed, agrees: false })).toContain('was changed');
    for (const text of ['not JSON', '', '[1,', '"text"', 'null', '[]', '{"signature": 5}']) {
      writeFileSync(file, text);
      await expect(run(runOperator, 'verify', file, '--key', signed.public_key)).rejects.toThrow(
        `${file} is not a report`,
      );
    }
    await expect(run(runOperator, 'verify', `${file}.absent`, '--key', signed.public_key)).rejects.toThrow(
      'cannot be read',
    );
    await expect(run(runOperator, 'verify', file)).rejects.toThrow('requires --key');
    expect(process.exitCode).toBe(1);
    process.exitCode = undefined;
    const { rows } = await pool.query(`select p.id, p.commit_id, '0x' || encode(t.mined_hash, 'hex') as hash
      from participations p join operator_transactions t on t.id = p.commit_id where p.status = 'completed' limit 1`);
    const [{ id, commit_id, hash }] = rows;
    const tampers: [string, string, string, object][] = [
      ['participations', 'amount = amount + 1', 'amount = amount - 1', { participation_ids: [id] }],
      ['participations', "status = 'failed'", "status = 'completed'", { participation_ids: [id] }],
      ['participations', 'committed = null', 'committed = true', { participation_ids: [id] }],
      ['participations', "status = 'remitted'", "status = 'completed'", { participation_ids: [id] }],
      [
        ...(['operator_transactions', 'block_number = block_number - 1'] as const),
        ...(['block_number = block_number + 1', { transaction_hashes: [hash] }] as const),
      ],
    ];
    for (const [table, change, repair, named] of tampers) {
      const where = `where id = '${table === 'participations' ? id : commit_id}'`;
      await pool.query(`update ${table} set ${change} ${where}`);
      const tampered = await report();
      expect([change, tampered.agrees, tampered.offers]).toEqual([
        ...[change, false, [{ offer: 'harbour-sale', agrees: false }]],
      ]);
      expect(tampered.differences).toHaveLength(1);
      expect(tampered.differences[0]).toMatchObject(named);
      expect(process.exitCode).toBe(1);
      await pool.query(`update ${table} set ${repair} ${where}`);
    }
    // Deletes the row, so that its event matches nothing.
    await pool.query('alter table participations disable trigger user');
    const { rows: kept } = await pool.query('select * from participations where id = $1', [id]);
    await pool.query('delete from participations where id = $1', [id]);
    const missing = await report();
    expect(missing.differences).toMatchObject([{ participation_ids: [], transaction_hashes: [hash] }]);
    const columns = Object.keys(kept[0]);
    const places = columns.map((_, i) => `$${i + 1}`).join();
    await pool.query(
      `insert into participations (${columns.join()}) values (${places})`,
      Object.values(kept[0]),
    );
    // Removes the row's reference to its transaction.
    await pool.query(
      "update participations set status = 'pending', committed = null, commit_id = null, commit_row = null where id = $1",
      [id],
    );
    expect((await report()).differences).toMatchObject([{ transaction_hashes: [hash] }]);
    const [{ status, committed, commit_row }] = kept;
    await pool.query(
      'update participations set status = $2, committed = $3, commit_id = $4, commit_row = $5 where id = $1',
      [id, status, committed, commit_id, commit_row],
    );
    await pool.query('alter table participations enable trigger user');
    process.exitCode = undefined;
    expect((await report()).agrees).toBe(true);
  });

  test('exits with 1 if there is a difference, and pauses the offer', async () => {
    const { pool } = sale.app.ctx;
    await pool.query('update participations set amount = amount + 1');
    expect(await run(runOperator, 'reconcile', 'ethereum_sepolia', '--yes')).toContain('is ours, but');
    expect(process.exitCode).toBe(1);
    const { paused } = JSON.parse(await run(runSettlement, 'status'));
    expect(paused).toMatchObject([{ subject: 'harbour-sale', reason: 'unreconciled' }]);
    await pool.query('update participations set amount = amount - 1');
  });

  test('rejects a wrong block number and a missing chain', async () => {
    await expect(run(runOperator, 'reconcile', 'ethereum_sepolia', '--from-block', 'x')).rejects.toThrow(
      '--from-block must be a block number',
    );
    await expect(run(runOperator, 'reconcile')).rejects.toThrow('requires one chain');
    await expect(run(runOperator, 'status', '--yes')).rejects.toThrow('does not take --yes');
  });
});
