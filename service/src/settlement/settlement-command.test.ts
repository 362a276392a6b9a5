import { hashMessage, recoverAddress } from 'viem';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { testConfig } from '../../test/support/app.ts';
import { saleWorker, UNIT } from '../../test/support/sale.ts';
import { forgetTransaction, useSale } from '../../test/support/settlement.ts';
import type { Config } from '../config.ts';
import { deriveSandboxKey } from '../operator/sandbox-keys.ts';
import { stableJson } from '../stable-json.ts';
import { runOperator } from './operator-command.ts';
import { runSettlement } from './settlement-command.ts';

const sale = useSale();
let config: Config;
beforeAll(async () => {
  const { rows } = await sale.app.ctx.pool.query('select current_database() as name');
  const url = new URL(String(sale.app.ctx.pool.options.connectionString));
  url.pathname = `/${rows[0].name}`;
  config = { ...testConfig(), databaseUrl: url.href, rpcUrls: { ethereum_sepolia: [sale.node.url] } };
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
    expect(await run(runSettlement, 'pause', ...args)).toContain('is paused already');
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
    await expect(run(runSettlement, 'dance')).rejects.toThrow('status, pause and resume');
    await expect(run(runSettlement, 'status', 'x')).rejects.toThrow('no argument');
    await expect(run(runSettlement, 'resume', '--message', 'x')).rejects.toThrow('--message');
    expect(JSON.parse(await run(runSettlement, 'status')).paused).toEqual([]);
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
      const key = {
        kind: 'local' as const,
        privateKey: Buffer.from(deriveSandboxKey('operator').slice(2), 'hex'),
      };
      await runOperator({ ...config, operatorKey: key }, ['reconcile', 'ethereum_sepolia', '--report']);
      const text = String(out.mock.calls.at(-1)?.[0]);
      out.mockRestore();
      return JSON.parse(text);
    };
    await saleWorker(sale).settle();
    const { signature, signer, ...clean } = await report();
    expect(clean).toMatchObject({ object: 'reconcile_report', agrees: true, differences: [] });
    expect(clean.funds).toMatchObject([{ fund: sale.fund, offers: ['harbour-sale'], agrees: true }]);
    expect(clean.funds[0].chain).toEqual(clean.funds[0].database);
    const hash = hashMessage(stableJson(clean));
    expect((await recoverAddress({ hash, signature })).toLowerCase()).toBe(signer);
    expect(process.exitCode).toBeUndefined();
    const { rows } = await pool.query("select id from participations where status = 'completed' limit 1");
    const add = (units: number) =>
      pool.query('update participations set amount = amount + $1 where id = $2', [units, rows[0].id]);
    await add(1);
    const tampered = await report();
    expect(tampered.agrees).toBe(false);
    expect(tampered.differences.filter((line: string) => line.includes('participation'))).toEqual([
      `${sale.fund}: participation ${rows[0].id} records a commit that is not on the chain`,
    ]);
    expect(process.exitCode).toBe(1);
    await add(-1);
  });

  test('exits with 1 if there is a difference, and pauses the offer', async () => {
    const { pool } = sale.app.ctx;
    await pool.query('update participations set amount = amount + 1');
    expect(await run(runOperator, 'reconcile', 'ethereum_sepolia', '--yes')).toContain('not on the chain');
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
    await expect(run(runOperator, 'status', '--yes')).rejects.toThrow('takes no options');
  });
});
