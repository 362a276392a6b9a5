import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { evmWallet, solanaWallet } from '../../../test/support/wallets.ts';
import { loadConfig } from '../../kernel/config/config.ts';
import { createMetrics } from '../../kernel/metrics.ts';
import type { Sanctions } from '../../platform/context/ports.ts';
import { openSanctions } from './list.ts';
import { findListProblem, hashList, parseSanctions } from './list-file.ts';
import { readListStatus } from './store.ts';

const folder = mkdtempSync(join(tmpdir(), 'causeway-sanctions-'));
const file = join(folder, 'list.txt');
const bad = evmWallet('sanctioned');
const badSolana = solanaWallet('sanctioned');
const many = Array.from({ length: 10 }, (_, i) => evmWallet(`listed ${i}`).address);

let app: TestApp;
const opened: Sanctions[] = [];
beforeAll(async () => {
  app = await testApp();
});
afterEach(() => {
  for (const list of opened.splice(0)) list.close();
});
beforeEach(() => app.ctx.db.deleteFrom('sanctions_list').execute());
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

const write = (addresses: readonly string[]) => writeFileSync(file, `${addresses.join('\n')}\n`);

async function open(intervals?: Parameters<typeof openSanctions>[2]) {
  const metrics = createMetrics();
  const list = await openSanctions(file, { ...app.ctx, metrics }, intervals);
  opened.push(list);
  const isStale = async () => /^causeway_sanctions_list_stale 1$/m.test(await metrics.registry.metrics());
  return { list, isStale };
}

describe('a sanctions file', () => {
  test('has one address per line, allows comments and any case of EVM addresses', () => {
    const list = parseSanctions(
      `\ufeff# header\r\n\n  ${bad.address.toUpperCase().replace('0X', '0x')} # a name\n${badSolana.address}\r`,
    );
    expect([...list]).toEqual([bad.address, badSolana.address]);
  });

  test.each(['nonsense', '0x12', `${bad.address}00`, `${bad.address} ${bad.address}`, '<html>'])(
    'with %j is refused with the line number',
    (line) => expect(() => parseSanctions(`${bad.address}\n${line}\n`)).toThrow('line 2'),
  );

  test('may lose a fifth of its entries at once, and not one more', () => {
    const previous = new Set(many);
    expect(findListProblem(previous, new Set(many.slice(2)))).toBeNull();
    expect(findListProblem(previous, new Set([...many.slice(3), bad.address, badSolana.address]))).toContain(
      'lacks 3 of the 10',
    );
    expect(findListProblem(previous, new Set())).toContain('no addresses');
    expect(findListProblem(new Set(), new Set())).toContain('no addresses');
  });
});

describe('the configuration', () => {
  const production = { CAUSEWAY_PROFILE: 'production', CAUSEWAY_SECRET: 'A'.repeat(44) };

  test('of production names a list or says that there is none', () => {
    expect(() => loadConfig(production)).toThrow('SANCTIONS_FILE: is required in production');
    expect(() => loadConfig({ ...production, SANCTIONS: 'none' })).not.toThrow('SANCTIONS');
    expect(() => loadConfig({ ...production, SANCTIONS_FILE: file })).not.toThrow('SANCTIONS');
    expect(() => loadConfig({ ...production, SANCTIONS: 'off' })).toThrow('SANCTIONS: must be one of none');
    expect(() => loadConfig({ ...production, SANCTIONS: 'none', SANCTIONS_FILE: file })).toThrow(
      'SANCTIONS: must not be "none"',
    );
  });
});

describe('the sanctions list', () => {
  test('compares Solana addresses exactly', async () => {
    write([badSolana.address]);
    const { list } = await open();
    expect([list.has(badSolana.address), list.has(badSolana.address.toLowerCase())]).toEqual([true, false]);
  });

  test('must be readable and not empty at start, even if an earlier list is known', async () => {
    await expect(
      openSanctions(join(folder, 'missing'), { ...app.ctx, metrics: createMetrics() }),
    ).rejects.toThrow('ENOENT');
    writeFileSync(file, 'nonsense');
    await expect(open()).rejects.toThrow('line 1');
    write(many);
    await open();
    writeFileSync(file, '# nothing\n');
    await expect(open()).rejects.toThrow('has no addresses');
  });

  test('is reloaded when the file is replaced by one with more addresses', async () => {
    write(many);
    const { list } = await open({ pollIntervalMs: 20 });
    let changes = 0;
    list.onChange(() => void changes++);
    // Replaces the file instead of changing it, as editors and downloads do.
    writeFileSync(`${file}.new`, [...many, bad.address].join('\n'));
    renameSync(`${file}.new`, file);
    await expect.poll(() => list.has(bad.address)).toBe(true);
    await list.reload();
    expect(changes).toBe(1);
  });

  test.each([
    ['is invalid', 'not an address\n'],
    ['is empty', ''],
    ['has lost more than a fifth of its addresses', many.slice(3).join('\n')],
  ])('stays in use, with an alert, when the new file %s', async (_, text) => {
    write(many);
    const { list, isStale } = await open();
    writeFileSync(file, text);
    await list.reload();
    expect([list.has(String(many[0])), list.addresses().size, await isStale()]).toEqual([true, 10, true]);
    expect(app.logged()).toContain('sanctions list refused; keeping the previous list');
    expect(await readListStatus(app.ctx.db)).toMatchObject({
      entries: 10,
      refused_reason: expect.any(String),
    });
    write(many);
    await list.reload();
    expect(await isStale()).toBe(false);
    expect(await readListStatus(app.ctx.db)).toMatchObject({ refused_reason: null });
  });

  test('is replaced by a file that an operator accepted, even if the notification is lost', async () => {
    write(many);
    const { list } = await open({ pollIntervalMs: 20, reloadIntervalMs: 20 });
    const shorter = [...many.slice(3), bad.address];
    write(shorter);
    await list.reload();
    expect(list.has(bad.address)).toBe(false);
    const addresses = parseSanctions(shorter.join('\n'));
    await app.ctx.db
      .updateTable('sanctions_list')
      .set({ hash: hashList(addresses), addresses: [...addresses] })
      .execute();
    await expect.poll(() => list.has(bad.address)).toBe(true);
  });

  test('stays in use when the file is gone', async () => {
    write(many);
    const { list, isStale } = await open();
    rmSync(file);
    await list.reload();
    expect([list.has(String(many[0])), await isStale()]).toEqual([true, true]);
  });

  test('survives a restart with a file that has lost too many addresses', async () => {
    write(many);
    await open();
    write(many.slice(5));
    const { list, isStale } = await open();
    expect([list.addresses().size, list.has(String(many[0])), await isStale()]).toEqual([10, true, true]);
  });
});
