import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { settleApplicant } from '../src/domain/identity/reconcile.ts';
import { startWorld, type World } from './support/providers.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const newUser = () => world.newUser();
const openPage = async (url: string, form?: Record<string, string>) => {
  const reply = await fetch(
    url,
    form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) },
  );
  const text = await reply.text();
  return { status: reply.status, text, title: /<h1>(.*?)<\/h1>/.exec(text)?.[1] };
};
const post = (token: string, url: string, payload: object) =>
  world.app.inject({ method: 'POST', url, headers: { authorization: `Bearer ${token}` }, payload });

describe('the simulated identity flow', () => {
  test('a person submits data, chooses the outcome, and the service receives both', async () => {
    const { userId, token } = await newUser();
    const kyc = (await post(token, '/v1/kyc-token', { level_name: 'BasicKYCLevel' })).json().token;
    const flow = `${world.providers.pages.identity}/flow`;
    const opened = await openPage(`${flow}?token=${kyc}`);
    expect([opened.status, opened.title]).toEqual([200, 'Verify your identity']);
    expect(await world.ctx.identity.findApplicant(userId)).toMatchObject({ review: { status: 'init' } });
    const data = {
      first_name: 'Ada',
      last_name: '<b>Byron</b>',
      date_of_birth: '1815-12-10',
      country: 'GB',
      tax_id: '1',
      street: 's',
    };
    expect((await openPage(flow, { token: kyc, outcome: 'approve', ...data })).title).toBe('Done');
    await settleApplicant(world.ctx, userId);
    const pii = await world.app.inject({ url: '/v1/pii', headers: { authorization: `Bearer ${token}` } });
    expect(pii.json()).toMatchObject({ full_legal_name: 'Ada <b>Byron</b>', jurisdiction: { iso_2: 'GB' } });
    expect((await openPage(`${flow}?token=${kyc}`)).title).toBe('You are verified');
  });

  test('a company can switch to the company form', async () => {
    const { userId, token } = await newUser();
    await world.ctx.db.updateTable('users').set({ kind: 'company' }).where('id', '=', userId).execute();
    const kyc = (await post(token, '/v1/kyc-token', {})).json().token;
    const flow = `${world.providers.pages.identity}/flow`;
    expect((await openPage(`${flow}?token=${kyc}`)).text).toContain('We are a company');
    expect((await openPage(`${flow}?token=${kyc}&kind=company`)).text).toContain('Company name');
    await openPage(flow, {
      token: kyc,
      kind: 'company',
      outcome: 'approve',
      company_name: 'Acme',
      country: 'DE',
      tax_id: '7',
    });
    await settleApplicant(world.ctx, userId);
    const pii = await world.app.inject({ url: '/v1/pii', headers: { authorization: `Bearer ${token}` } });
    expect(pii.json()).toMatchObject({
      kind: 'company',
      full_legal_name: 'Acme',
      date_of_birth: null,
      tax_id: '7',
    });
  });

  test('unknown tokens and invalid input get an error page', async () => {
    const { token } = await newUser();
    const flow = `${world.providers.pages.identity}/flow`;
    expect((await openPage(`${flow}?token=x`)).status).toBe(404);
    const kyc = (await post(token, '/v1/kyc-token', {})).json().token;
    expect((await openPage(flow, { token: kyc, country: 'Germany' })).status).toBe(422);
    expect((await openPage(flow, { token: kyc, outcome: 'constructor' })).status).toBe(422);
  });
});

describe('the simulated signing page', () => {
  const sendForm = async () => {
    const { userId, token } = await newUser();
    await post(token, '/v1/documents/tax_certification/submission', {
      'Full Name': '"><script>alert(1)</script>',
    });
    const { mails } = await world.call('documents/mails', { to: `${userId}@user.test` });
    const status = async () =>
      (
        await world.ctx.db
          .selectFrom('document_submissions')
          .select('status')
          .where('user_id', '=', userId)
          .executeTakeFirstOrThrow()
      ).status;
    return { link: mails[0]?.link ?? '', status };
  };

  test('shows the prefilled form, reports the view, and accepts a signature once', async () => {
    const { link, status } = await sendForm();
    const shown = await openPage(link);
    expect(shown.title).toBe('Sign W-8BEN');
    expect(shown.text).not.toContain('<script>alert');
    expect(await status()).toBe('VIEWED');
    expect((await openPage(link, { Signature: 'Ada' })).title).toBe('This form has been signed');
    expect(await status()).toBe('COMPLETED');
    expect((await openPage(link, { Signature: 'Ada' })).status).toBe(422);
  });

  test('can be declined and shows it afterwards', async () => {
    const { link, status } = await sendForm();
    expect((await openPage(`${link}/decline`, { reason: 'no' })).title).toBe('This form was declined');
    expect(await status()).toBe('DECLINED');
    expect((await openPage(link)).title).toBe('This form was declined');
    expect((await openPage(`${world.providers.pages.documents}/s/unknown`)).status).toBe(404);
    expect((await openPage(world.providers.pages.documents)).text).toContain(link);
  });
});

describe('the simulated identity API behaves like Sumsub', () => {
  const credentials = () => {
    const { identity } = world.providers.settings;
    return { token: identity?.appToken ?? '', secret: identity?.secret ?? '' };
  };
  const call = async (method: string, path: string, body = '', overrides: Record<string, string> = {}) => {
    const { token, secret } = credentials();
    const seconds = overrides['x-app-access-ts'] ?? String(Math.floor(Date.now() / 1000));
    const signature = createHmac('sha256', secret).update(`${seconds}${method}${path}${body}`).digest('hex');
    const headers = {
      'x-app-token': token,
      'x-app-access-ts': seconds,
      'x-app-access-sig': signature,
      ...overrides,
    };
    const reply = await fetch(`${world.providers.pages.identity}${path}`, {
      method,
      headers,
      ...(body !== '' && { body }),
    });
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  };

  test.each([
    [4000, { 'x-app-token': 'nonsense' }],
    [4001, { 'x-app-token': 'sbx:other.part' }],
    [4003, { 'x-app-access-sig': '0'.repeat(64) }],
    [4004, { 'x-app-access-ts': '1700000000' }],
    [4005, { 'x-app-access-ts': 'now' }],
  ])('rejects bad credentials with error code %s', async (errorCode, change) => {
    expect(await call('GET', '/resources/status/api', '', change as Record<string, string>)).toMatchObject({
      status: 401,
      body: { errorCode },
    });
  });

  test('issues tokens both ways, allows one applicant per user and enforces review states', async () => {
    const level = 'levelName=BasicKYCLevel';
    expect(
      (await call('POST', `/resources/accessTokens?userId=u1&${level}&ttlInSecs=600`)).body,
    ).toMatchObject({ userId: 'u1' });
    expect(
      (await call('POST', '/resources/accessTokens/sdk', '{"userId":"u1","levelName":"Nope"}')).status,
    ).toBe(404);
    const create = () =>
      call('POST', `/resources/applicants?${level}`, '{"externalUserId":"u1","fixedInfo":{}}');
    const { id } = (await create()).body as { id: string };
    expect((await create()).body).toMatchObject({
      code: 409,
      description: `Applicant with external user id 'u1' already exists: ${id}`,
    });
    expect((await call('GET', '/resources/applicants/-;externalUserId=u1/one')).body).toMatchObject({
      id,
      review: { reviewStatus: 'init' },
    });
    expect((await call('POST', `/resources/applicants/${id}/status/pending`)).status).toBe(409);
    await call('PATCH', `/resources/applicants/${id}/fixedInfo`, '{"firstName":"A"}');
    expect((await call('POST', `/resources/applicants/${id}/status/pending`)).body).toEqual({ ok: 1 });
    for (const path of ['reset', 'moveToLevel?name=Sorting_KYC_Level'])
      expect((await call('POST', `/resources/applicants/${id}/${path}`)).status).toBe(409);
    await call(
      'POST',
      `/resources/applicants/${id}/status/testCompleted`,
      '{"reviewAnswer":"RED","reviewRejectType":"FINAL"}',
    );
    expect((await call('GET', `/resources/applicants/${id}/status`)).body).toMatchObject({
      reviewStatus: 'completed',
      reviewResult: { reviewAnswer: 'RED', reviewRejectType: 'FINAL' },
    });
    expect((await call('POST', `/resources/applicants/${id}/reset`)).body).toEqual({ ok: 1 });
  });

  test('rate limits writes: the fifty-first in five seconds is 429', async () => {
    await sleep(5_100);
    const replies = await Promise.all(
      Array.from({ length: 60 }, () => call('POST', '/resources/applicants/x/reset')),
    );
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(10);
  });
});
