import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { stringify } from 'yaml';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { expectAudited } from '../../../test/support/audited.ts';
import { makeOffer, saleFile, tokenizedFile } from '../../../test/support/offers.ts';
import { readReasons } from '../../../test/support/reasons.ts';
import { solanaSaleFile } from '../../../test/support/solana-sale.ts';
import { typeOnTerminal } from '../../../test/support/terminal.ts';
import { makeClient } from '../../../test/support/tokens.ts';
import { closeOffer } from '../../domain/offer-files/lifecycle.ts';
import { readOfferBySlug } from '../../domain/offers/store.ts';
import type { Config } from '../../kernel/config/config.ts';
import { UsageError } from '../../kernel/errors.ts';
import { run as runOffer } from './offer-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'causeway-offers-'));
let one: TestApp;
let config: Config;
beforeAll(async () => {
  one = await testApp();
  await makeClient(one.ctx);
  config = { ...one.ctx.config, databaseUrl: String(one.ctx.pool.options.connectionString) };
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await one.close();
});
afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = undefined;
});

/** Runs the command and returns its output and exit code. */
function run(...args: string[]) {
  return runWith(config, ...args);
}

async function runWith(settings: Config, ...args: string[]) {
  const out: string[] = [];
  const said: string[] = [];
  process.exitCode = undefined;
  vi.spyOn(console, 'log').mockImplementation((text: string) => void out.push(text));
  vi.spyOn(console, 'error').mockImplementation((text: string) => void said.push(text));
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => out.push(String(text)) > 0);
  await runOffer(settings, args);
  vi.restoreAllMocks();
  return { out: out.join('\n'), said: said.join('\n'), code: Number(process.exitCode ?? 0) };
}

function write(name: string, file: object): string {
  const path = join(folder, name);
  writeFileSync(path, stringify(file));
  return path;
}

test('diff shows the changes, and apply --yes makes them', async () => {
  const path = write('sale.yaml', { ...saleFile({ slug: 'by-command' }), name: `Of $${'{city}'}` });
  const set = ['--set', 'city=Hamburg'];
  const shown = await run('diff', path, ...set);
  expect([shown.code, shown.out]).toEqual([1, expect.stringContaining('+ name: Of Hamburg')]);
  const unasked = await run('apply', path, ...set, '--no-chain-checks');
  expect([unasked.code, unasked.said]).toEqual([2, expect.stringContaining('--yes')]);
  typeOnTerminal('');
  expect((await run('apply', path, ...set, '--no-chain-checks')).code).toBe(2);
  expect(await readOfferBySlug(one.ctx.db, 'by-command')).toBeNull();
  expect((await run('apply', path, ...set, '--no-chain-checks', '--yes')).code).toBe(0);
  expect((await readOfferBySlug(one.ctx.db, 'by-command'))?.name).toBe('Of Hamburg');
  const again = await run('diff', path, ...set);
  expect([again.code, again.out]).toEqual([0, 'by-command: no changes']);
});

test('apply checks the contracts by default', async () => {
  const path = write('unchecked.yaml', saleFile({ slug: 'unchecked' }));
  const { code, said } = await run('apply', path, '--yes');
  expect([code, said]).toEqual([2, expect.stringContaining('RPC_URL_ETHEREUM_SEPOLIA is not set')]);
  expect(await readOfferBySlug(one.ctx.db, 'unchecked')).toBeNull();
});

test('apply names the missing node and the unknown operator of a deployment on Solana', async () => {
  const path = write('solana.yaml', { ...solanaSaleFile(), slug: 'on-solana', open_to_anyone: true });
  const node = 'contracts.solana_devnet: cannot be checked: RPC_URL_SOLANA_DEVNET is not set';
  const operator = 'operator: cannot check whether the fund lets it sign; set SOLANA_OPERATOR_KEY';
  const sandbox = await run('apply', path, '--yes');
  expect([sandbox.code, sandbox.said]).toEqual([2, expect.stringContaining(node)]);
  expect(sandbox.said).not.toContain(operator);
  const production = await runWith({ ...config, profile: 'production' }, 'apply', path, '--yes');
  expect([production.code, production.said]).toEqual([2, expect.stringContaining(operator)]);
  expect(await readOfferBySlug(one.ctx.db, 'on-solana')).toBeNull();
});

test('an invalid file changes nothing and is reported with its line', async () => {
  const path = write('wrong.yaml', { ...saleFile({ slug: 'wrong' }), type: 'auction' });
  const { code, said } = await run('apply', path, '--yes', '--no-chain-checks');
  expect([code, said]).toEqual([2, expect.stringMatching(/wrong\.yaml:2: type: must be one of/)]);
});

test('show prints a file that changes nothing', async () => {
  const path = join(folder, 'shown.yaml');
  writeFileSync(path, (await run('show', 'by-command')).out);
  expect((await run('diff', path)).out).toBe('by-command: no changes');
});

test('list, publish and close show and set the state', async () => {
  const row = async () =>
    JSON.parse((await run('list')).out).find(({ slug }: { slug: string }) => slug === 'by-command');
  expect(await row()).toMatchObject({ state: 'open', published_at: null, partners: ['Partner partner-one'] });
  expect((await run('publish', 'by-command')).said).toBe('by-command: published');
  expect((await run('publish', 'by-command')).said).toBe('by-command: already published');
  expect((await run('close', 'by-command', '--reason', 'sold', '--yes')).said).toMatch(
    /\nby-command: closed$/,
  );
  expect(await row()).toMatchObject({ state: 'ended', published_at: expect.any(String) });
  await expectAudited(one.ctx, 'offer.insert', 'offer.update', 'offer.published', 'offer.closed');
});

test('close prints what ends, and closes once the slug is typed', async () => {
  const { id } = await makeOffer(one.ctx, saleFile({ slug: 'closing', ends_at: '2030-01-01T00:00:00Z' }));
  // `run` restores all mocks, so the terminal is set for each run.
  const close = (typed: string | null, ...more: string[]) => {
    typeOnTerminal(typed);
    return run('close', 'closing', ...more);
  };
  await expect(close('closing\n')).rejects.toThrow('requires --reason TEXT');
  await expect(close('closing-2\n', '--reason', 'sold')).rejects.toThrow(
    'closing was not typed, so nothing was changed',
  );
  await expect(close(null, '--reason', 'sold')).rejects.toThrow('--yes');
  expect((await readOfferBySlug(one.ctx.db, 'closing'))?.closed_at).toBeNull();
  const { said } = await close('closing\n', '--reason', 'sold');
  expect(said).toContain('closing (Harbour, platform::token_sale)');
  expect(said).toContain('planned end: 2030-01-01T00:00:00.000000Z');
  expect(said).toContain('0 prepared, 0 pending and 0 submitted participations');
  expect(said).toMatch(/\nclosing: closed$/);
  expect(await readReasons(one.ctx, 'offer.closed', id)).toEqual(['sold']);
  // There is nothing to change, so nothing to confirm.
  expect((await close(null, '--reason', 'again')).said).toBe('closing: already closed');
  await expect(run('close', 'nobody', '--reason', 'x', '--yes')).rejects.toThrow(
    'offer nobody does not exist',
  );
});

test('reopen undoes close, and only close', async () => {
  const { id } = await makeOffer(one.ctx, saleFile({ slug: 'again', ends_at: '2030-01-01T00:00:00Z' }));
  const before = await readOfferBySlug(one.ctx.db, 'again');
  await expect(run('reopen', 'again', '--reason', 'x')).rejects.toThrow(
    'offer again is not closed: it ends at 2030-01-01T00:00:00.000000Z',
  );
  await run('close', 'again', '--reason', 'sold', '--yes');
  await expect(run('reopen', 'again')).rejects.toThrow('requires --reason TEXT');
  await expect(run('reopen', 'nobody', '--reason', 'x')).rejects.toThrow('Offer nobody not found');
  await expect(run('reopen', 'again', 'by-command', '--reason', 'x')).rejects.toThrow('takes a single slug');
  const { said } = await run('reopen', 'again', '--reason', 'closed the wrong offer');
  expect(said).toBe('again: reopened, now open until 2030-01-01T00:00:00.000000Z');
  expect(await readOfferBySlug(one.ctx.db, 'again')).toEqual(before);
  expect(await readReasons(one.ctx, 'offer.reopened', id)).toEqual(['closed the wrong offer']);
  await expectAudited(one.ctx, 'offer.reopened');
});

test('an offer that is reopened after its planned end stays ended', async () => {
  await makeOffer(one.ctx, saleFile({ slug: 'late', ends_at: '2020-01-01T00:00:00Z' }));
  await run('close', 'late', '--reason', 'sold', '--yes');
  expect((await run('reopen', 'late', '--reason', 'x')).said).toBe(
    'late: reopened, but it ended at 2020-01-01T00:00:00.000000Z; apply a later ends_at to open it',
  );
});

test('a swap is not reopened while another one trades its symbol for the same partner', async () => {
  await makeOffer(one.ctx, tokenizedFile({ slug: 'first-swap' }));
  await closeOffer(one.ctx, 'first-swap', 'replaced');
  one.clock.advance(1);
  await makeOffer(one.ctx, tokenizedFile({ slug: 'second-swap' }));
  const reopen = () => run('reopen', 'first-swap', '--reason', 'x');
  const { code, said } = await reopen();
  expect([code, said]).toEqual([2, expect.stringContaining('second-swap already trades HBRon for the same')]);
  expect((await readOfferBySlug(one.ctx.db, 'first-swap'))?.closed_at).not.toBeNull();
  await run('close', 'second-swap', '--reason', 'wrong', '--yes');
  expect((await reopen()).said).toBe('first-swap: reopened, now open');
});

test.each([
  ['an unknown offer', ['publish', 'nobody']],
  ['an unknown command', ['delete', 'by-command']],
  ['an option of another command', ['list', '--yes']],
  ['no file', ['apply']],
  ['a file that is not there', ['apply', '/nowhere/offer.yaml']],
  ['a variable without a value', ['diff', 'x.yaml', '--set', 'city']],
])('%s is refused', async (_what, args) => {
  await expect(run(...args)).rejects.toThrow(UsageError);
});

test('the schema requires only the fields without a default', async () => {
  const schema = JSON.parse((await run('schema')).out);
  expect(schema.required).toEqual([
    'slug',
    'type',
    'name',
    'logo_url',
    'asset',
    'funding_assets',
    'partners',
    'options',
  ]);
  expect(schema.properties.options.items.required).toEqual(['slug']);
});
