import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../test/support/app.ts';
import { makeOffer, saleFile, tokenizedFile } from '../../test/support/offers.ts';
import { evmWallet, person, solanaWallet } from '../../test/support/wallets.ts';
import { openSanctions, parseSanctions } from './sanctions.ts';

const folder = mkdtempSync(join(tmpdir(), 'causeway-sanctions-'));
const file = join(folder, 'list.txt');
const bad = evmWallet('sanctioned');
const badSolana = solanaWallet('sanctioned');
const good = evmWallet('good');

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the sanctions list', () => {
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

  test('compares Solana addresses exactly', async () => {
    writeFileSync(file, badSolana.address);
    const list = await openSanctions(file, { info: () => {}, error: () => {} });
    expect([list.has(badSolana.address), list.has(badSolana.address.toLowerCase())]).toEqual([true, false]);
    list.close();
  });

  test('must be readable at start', async () => {
    const log = { info: () => {}, error: () => {} };
    await expect(openSanctions(join(folder, 'missing'), log)).rejects.toThrow('ENOENT');
    writeFileSync(file, 'nonsense');
    await expect(openSanctions(file, log)).rejects.toThrow('line 1');
  });

  test('is reloaded when the file changes, unless the new file is invalid', async () => {
    const errors: unknown[] = [];
    writeFileSync(file, `${bad.address}\n`);
    const log = { info: () => {}, error: (...args: unknown[]) => void errors.push(args) };
    const list = await openSanctions(file, log as never, 20);
    expect(list.has(good.address)).toBe(false);
    // Editors and downloads replace the file.
    writeFileSync(`${file}.new`, `${good.address}\n`);
    renameSync(`${file}.new`, file);
    await expect.poll(() => list.has(good.address)).toBe(true);
    expect(list.has(bad.address)).toBe(false);
    writeFileSync(file, 'not an address\n');
    await expect.poll(() => errors.length).toBeGreaterThan(0);
    expect(list.has(good.address)).toBe(true);
    rmSync(file);
    await list.reload();
    expect(list.has(good.address)).toBe(true);
    list.close();
  });
});

describe('a sanctioned wallet', () => {
  let app: TestApp;
  beforeAll(async () => {
    writeFileSync(file, `${bad.address.toUpperCase().replace('0X', '0x')}\n${badSolana.address}\n`);
    app = await testApp({ config: { sanctionsFile: file } });
  });
  afterAll(() => app.close());

  test('can be neither bound nor allowed', async () => {
    const user = await person(app);
    const sale = await makeOffer(app.ctx, saleFile());
    const swap = await makeOffer(app.ctx, tokenizedFile());
    const option = sale.options[0]?.id ?? '';
    const refused = { status: 403, body: { code: 'wallet_sanctioned' } };
    expect(await user.bind(sale.id, option, bad)).toMatchObject(refused);
    expect(await user.bind(sale.id, option, badSolana)).toMatchObject(refused);
    expect(await user.allow(swap.id, bad)).toMatchObject(refused);
    expect((await user.bind(sale.id, option, good)).status).toBe(200);
    expect(await app.ctx.db.selectFrom('option_addresses').select('address').execute()).toEqual([
      { address: good.address },
    ]);
  });
});
