import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { makeOffer, saleFile, tokenizedFile } from '../../../test/support/offers.ts';
import { evmWallet, person, solanaWallet } from '../../../test/support/wallets.ts';

const folder = mkdtempSync(join(tmpdir(), 'causeway-sanctions-'));
const file = join(folder, 'list.txt');
const bad = evmWallet('sanctioned');
const badSolana = solanaWallet('sanctioned');
const good = evmWallet('good');

afterAll(() => rmSync(folder, { recursive: true, force: true }));

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
