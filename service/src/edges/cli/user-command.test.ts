import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type TestApp, testApp, testConfig } from '../../../test/support/app.ts';
import { expectAudited } from '../../../test/support/audited.ts';
import { databaseUrlOf } from '../../../test/support/database-url.ts';
import { putFacts } from '../../../test/support/facts.ts';
import { makeOffer, saleFile } from '../../../test/support/offers.ts';
import { readReasons } from '../../../test/support/reasons.ts';
import { typeOnTerminal } from '../../../test/support/terminal.ts';
import { evmWallet, person, proveWallets, userId } from '../../../test/support/wallets.ts';
import { readSecondFactor } from '../../domain/accounts/second-factor.ts';
import { listSessions } from '../../domain/accounts/session-store.ts';
import { startSession } from '../../domain/accounts/sessions.ts';
import type { Config } from '../../kernel/config/config.ts';
import { UsageError } from '../../kernel/errors.ts';
import { newSecret } from '../../kernel/secret-hash.ts';
import { sealAuditLog } from '../../platform/audit/sealer.ts';
import type { Offer } from '../../platform/context/ports.ts';
import { run as runAudit } from './audit-command.ts';
import { run as runUser } from './user-command.ts';

let app: TestApp;
let config: Config;
let offer: Offer;
const id = userId(1);
const email = `${id}@user.test`;

beforeAll(async () => {
  app = await testApp();
  config = { ...testConfig(), databaseUrl: await databaseUrlOf(app) };
  await person(app, { userId: id });
  const requirements = [
    { type: 'kyc_approved' },
    { type: 'jurisdiction', details: { filter_type: 'reject', filters: [{ country_iso_2: 'FR' }] } },
  ];
  offer = await makeOffer(
    app.ctx,
    saleFile({ options: [{ slug: 'open' }, { slug: 'checked', requirements }] as never }),
  );
});
afterAll(() => app.close());
afterEach(() => void vi.restoreAllMocks());

let said = '';

/** Runs the command and returns its output. `said` is then what it printed to standard error. */
async function run(...args: string[]): Promise<string> {
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  log.mockClear();
  said = '';
  vi.spyOn(console, 'error').mockImplementation((text: string) => {
    said += `${text}\n`;
  });
  await runUser({ ...config, commandName: `user ${args[0]}` }, args);
  return log.mock.calls.flat().join('\n');
}

test('hold and release change the account once, and show keeps the record of both', async () => {
  expect(await run('show', email)).toBe(`User ${id} (${email}) is not on hold.`);
  expect(await run('hold', email, '--reason', 'alert 4711')).toBe(`User ${id} (${email}) is on hold.`);
  expect(await run('hold', id, '--reason', 'again')).toContain('is on hold');
  const held = await run('show', email);
  expect(held).toContain('is on hold');
  expect(held).toContain('alert 4711');
  expect(held).not.toContain('again');
  expect(await run('release', email, '--reason', 'cleared')).toContain('is not on hold');
  expect(await run('show', id)).toMatch(/held .*: alert 4711\n {2}released .*: cleared/);
  await expectAudited(app.ctx, 'user.held', 'user.released', 'command.run');
});

test('hold, release and erase require a reason, and every command requires an existing account', async () => {
  for (const command of ['hold', 'release', 'erase'])
    await expect(run(command, email)).rejects.toThrow('requires --reason TEXT');
  await expect(run('hold', email, '--reason', '  ')).rejects.toThrow('requires --reason TEXT');
  for (const command of ['hold', 'release', 'show', 'erase', 'explain'])
    await expect(run(command, 'nobody@user.test', ...more(command), '--reason', 'x')).rejects.toThrow(
      'User nobody@user.test not found.',
    );
  await expect(run('jail', email)).rejects.toThrow('unknown command "user jail"');
  await expect(run('show')).rejects.toThrow('one email address or user id');
  await expect(run('show', email, email)).rejects.toThrow('one email address or user id');
});
const more = (command: string) => (command === 'explain' ? [offer.slug] : []);

test('explain prints every check of every option as the API answers it', async () => {
  await proveWallets(app.ctx, [evmWallet('explained').address], { userId: id });
  await putFacts(app.ctx, { userId: id, country: 'FR', reviews: { BasicKYCLevel: null } });
  const text = await run('explain', email, offer.slug);
  const lines = text.split('\n');
  expect(lines[0]).toBe('harbour-sale at Partner partner-one: eligible');
  expect(lines).toContain('  open: eligible');
  expect(lines).toContain('  checked: not eligible');
  expect(lines).toContain(
    '    ! kyc_approved (action_needed): Complete your identity verification. [next: identity POST /v1/kyc-token]',
  );
  expect(lines).toContain(
    '    ✗ jurisdiction (rejected): This option is not available in your country of residence. [next: contact]',
  );
  const user = await person(app, { userId: id });
  const { body } = await user.call('GET', `/v1/offers/${offer.id}/eligibility`);
  const checks = (body.options as { checks: { code: string; status: string; message: string }[] }[]).flatMap(
    (option) => option.checks,
  );
  expect(checks.length).toBe(lines.length - 3);
  for (const { code, status, message } of checks)
    expect(lines.some((line) => line.includes(`${code} (${status}): ${message}`))).toBe(true);
});

test('explain needs an offer that exists', async () => {
  await expect(run('explain', email)).rejects.toThrow('requires the slug or id of an offer');
  await expect(run('explain', email, 'nonsense')).rejects.toThrow('Offer nonsense not found.');
  expect(await run('explain', id, offer.id)).toContain('harbour-sale at');
});

test('reset-second-factor turns two-step sign-in off, ends the sessions and writes a mail, or changes nothing', async () => {
  const { ctx } = app;
  const { db } = ctx;
  expect(await run('reset-second-factor', email)).toBe(
    'Two-step sign-in was already off, so nothing was changed.',
  );
  const sealed_secret = ctx.sealing.seal('totp secret', ctx.random(20), id);
  await db
    .insertInto('totp_secrets')
    .values({ user_id: id, sealed_secret, confirmed_at: new Date(0).toISOString() })
    .execute();
  const authentication = { method: 'password', secondFactor: 'totp' } as const;
  const source = { device: 'device', network: '203.0.113.7', browser: null };
  await startSession(ctx, db, { cookie: newSecret(ctx.random), source }, id, authentication);
  await sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`.execute(
    db,
  );
  await sql`create trigger refuse before delete on browser_sessions execute function refuse()`.execute(db);
  for (const [typed, message] of [
    ['yes\n', `${email} was not typed`],
    [null, '--yes'],
  ] as const) {
    typeOnTerminal(typed);
    await expect(run('reset-second-factor', email)).rejects.toThrow(message);
  }
  expect(said).toContain(`${email} (${id})`);
  await expect(run('reset-second-factor', email, '--yes')).rejects.toThrow('refused');
  expect((await readSecondFactor(ctx, id)).isOn).toBe(true);
  await sql`drop function refuse cascade`.execute(db);
  typeOnTerminal(`${email}\n`);
  expect(await run('reset-second-factor', email)).toBe('Turned off two-step sign-in and ended all sessions.');
  expect(await readSecondFactor(ctx, id)).toEqual({ isOn: false, recoveryCodes: 0 });
  expect(await listSessions(ctx.db, id)).toEqual([]);
  expect(await db.selectFrom('mail_outbox').select('id').execute()).toHaveLength(1);
  await expect(run('reset-second-factor', 'nobody@user.test')).rejects.toThrow(
    'User nobody@user.test not found.',
  );
  await expectAudited(ctx, 'user.second_factor_removed');
});

describe('erase', () => {
  const isErased = async (user: string) => !(await run('show', user)).includes(`${user}@user.test`);
  const eraseTyping = (typed: string | null, user: string, ...more: string[]) => {
    typeOnTerminal(typed);
    return run('erase', user, '--reason', 'request 12 of Ada', ...more);
  };

  test('prints what it will erase and keep, and erases once the email address is typed', async () => {
    const user = userId(2);
    await person(app, { userId: user });
    await proveWallets(app.ctx, [evmWallet('kept').address], { userId: user });
    await putFacts(app.ctx, { userId: user, country: 'FR', reviews: { BasicKYCLevel: null } });
    expect(await eraseTyping(`${user}@user.test\n`, user)).toContain(`Erased user ${user}.`);
    expect(said).toContain(`${user}@user.test (${user})`);
    expect(said).toContain('1 wallet, 0 participations, 0 orders, 0 open documents');
    expect(said).toContain('- email address, password, passkeys');
    expect(said).toMatch(/Kept until 20\d\d-\d\d-\d\d, because the law requires it:\n {2}- identification/);
    expect(await isErased(user)).toBe(true);
    expect(await readReasons(app.ctx, 'user.erased', user)).toEqual(['request 12 of Ada']);
    await sealAuditLog(app.ctx, 0);
    const log = vi.spyOn(console, 'log');
    log.mockClear();
    await runAudit(config, ['export']);
    const lines = log.mock.calls.map(([line]) => JSON.parse(line));
    expect(lines.find(({ detail }) => detail?.reason === 'request 12 of Ada').entry).toContain('user.erased');
  });

  test.each([
    ['another answer', 'yes\n', /was not typed, so nothing was changed/],
    ['the end of the input', '', /was not typed, so nothing was changed/],
    ['no terminal', null, /pass --yes/],
  ])('changes nothing after %s', async (_what, typed, message) => {
    const user = userId(3);
    await person(app, { userId: user });
    const erasing = eraseTyping(typed, user);
    await expect(erasing).rejects.toThrow(message);
    await expect(erasing).rejects.toThrow(UsageError);
    expect(said).toContain(`${user}@user.test (${user})`);
    expect(await isErased(user)).toBe(false);
  });

  test('--yes skips the question, not the preview, and a user on hold is refused before it', async () => {
    const user = userId(4);
    await person(app, { userId: user });
    await run('hold', user, '--reason', 'alert');
    await expect(eraseTyping(null, user, '--yes')).rejects.toThrow();
    expect(said).toBe('');
    await run('release', user, '--reason', 'cleared');
    expect(await eraseTyping(null, user, '--yes')).toContain(`Erased user ${user}.`);
    expect(said).toContain(`${user}@user.test (${user})`);
  });
});
