import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type TestApp, testApp, testConfig } from '../../../test/support/app.ts';
import { databaseUrlOf } from '../../../test/support/database-url.ts';
import { evmWallet, person, proveWallets, userId } from '../../../test/support/wallets.ts';
import { rescreen } from '../../domain/screening/rescreen.ts';
import type { Config } from '../../kernel/config/config.ts';
import { run as runSanctions } from './sanctions-command.ts';

let app: TestApp;
let config: Config;
let folder: string;
let file: string;
const listed = Array.from({ length: 10 }, (_, i) => evmWallet(`listed ${i}`).address);
const [first = ''] = listed;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-sanctions-'));
  file = join(folder, 'list.txt');
  await writeFile(file, listed.join('\n'));
  app = await testApp({ config: { sanctionsFile: file } });
  config = { ...testConfig(), databaseUrl: await databaseUrlOf(app), sanctionsFile: file };
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});
afterEach(() => void vi.restoreAllMocks());

async function run(...args: string[]): Promise<string> {
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  log.mockClear();
  await runSanctions(config, args);
  return log.mock.calls.flat().join('\n');
}
const status = async () => JSON.parse(await run('status'));

test('status describes the list in use, hits prints what it found, and neither prints the list itself', async () => {
  await person(app, { userId: userId(1) });
  await proveWallets(app.ctx, [first], { userId: userId(1) });
  await rescreen(app.ctx);
  expect(await status()).toMatchObject({ entries: 10, open_hits: 1, refused_hash: null });
  expect(await run('status')).not.toContain(String(listed[5]));
  expect(JSON.parse(await run('hits'))).toMatchObject([
    { subject: 'wallet', address: first, user_id: userId(1) },
  ]);
});

test('accept makes the nodes use a list that they refused', async () => {
  await writeFile(file, listed.slice(5).join('\n'));
  await app.ctx.sanctions.reload();
  expect(await status()).toMatchObject({ entries: 10, refused_reason: expect.any(String) });
  expect((await status()).refused_hash).not.toBeNull();
  expect(app.ctx.sanctions.has(first)).toBe(true);
  expect(await run('accept')).toBe(`Accepted 5 addresses from ${file}.`);
  await vi.waitFor(() => expect(app.ctx.sanctions.has(first)).toBe(false), 10_000);
  expect(await status()).toMatchObject({ entries: 5, refused_hash: null });
});

test('clear ends the hits of an address that is no longer listed', async () => {
  const listedAddress = String(listed[7]);
  await expect(run('clear', listedAddress, '--reason', 'mistake')).rejects.toThrow(
    'is on the sanctions list',
  );
  expect(await run('clear', first.toUpperCase().replace('0X', '0x'), '--reason', 'delisted')).toBe(
    `Cleared 1 hit for ${first.toUpperCase().replace('0X', '0x')}.`,
  );
  expect(await run('clear', first, '--reason', 'again')).toBe(`Cleared 0 hits for ${first}.`);
  expect(JSON.parse(await run('hits'))).toEqual([]);
});

test('wrong arguments and unusable files change nothing', async () => {
  await expect(run('clear', first)).rejects.toThrow('requires --reason TEXT');
  await expect(run('nonsense')).rejects.toThrow('status, hits, accept or clear ADDRESS');
  await expect(run('status', 'more')).rejects.toThrow('status, hits, accept or clear ADDRESS');
  await writeFile(file, '# nothing\n');
  await expect(run('accept')).rejects.toThrow('has no addresses');
  config = { ...config, sanctionsFile: null };
  await expect(run('accept')).rejects.toThrow('SANCTIONS_FILE: is required');
  expect((await status()).entries).toBe(5);
});
