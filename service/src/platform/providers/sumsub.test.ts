import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Providers, startProviders } from '../../../test/support/providers.ts';
import { openSumsub, readSumsubWebhook, signRequest, verifyDigest } from './sumsub.ts';
import { readTime, type SumsubApplicant, toApplicant } from './sumsub-applicant.ts';

const KEY = 'SoMe_SeCrEt_KeY';

describe('signatures', () => {
  test.each([
    [
      1607551635,
      'POST',
      '/resources/accessTokens?userId=cfd20712-24a2-4c7d-9ab0-146f3c142335&levelName=basic-kyc-level&ttlInSecs=600',
      '',
      '15cc96be3e65ed8805f374db7f4c49c5723ae2a20eea3159cf0ab7c3badc3ad0',
    ],
    [
      1700000000,
      'POST',
      '/resources/accessTokens/sdk',
      '{"ttlInSecs":600,"userId":"user_1","levelName":"BasicKYCLevel"}',
      '09a024ec70bbb80e3de4e9a1c58e59314771e7a79b43de644bf94e22ba7d2af2',
    ],
    [
      1700000000,
      'GET',
      '/resources/applicants/-;externalUserId=user_1/one',
      '',
      '63aa4feffe40a60df7e0064d9206cc39ed03497805f639ab57e3178682f1cef8',
    ],
  ])('of requests match the published vectors: %s %s', (seconds, method, path, body, expected) => {
    expect(signRequest(KEY, seconds, method, path, body)).toBe(expected);
  });

  const body = Buffer.from('someText');
  const SHA256 = '7f3beedce7529616a9d6bba59dc1b054a7247cef67f6acff2600864399f47fe0';
  const SHA512 =
    '3aae08986027051ca0656d87c4c95f1f15d3ecaf23cf239e5a43fd03a8af28223a06be1f97624caefd55475c84673773dc10e895a1ab885a3548c58bd7af9ebf';
  test.each([
    ['HMAC_SHA256_HEX', SHA256, true],
    [undefined, SHA256, true],
    ['HMAC_SHA512_HEX', SHA512, true],
    ['HMAC_SHA1_HEX', 'f6e92ffe371718694d46e28436f76589312df8db', false],
    ['HMAC_SHA256_HEX', SHA512, false],
    ['HMAC_SHA512_HEX', SHA256, false],
    ['HMAC_SHA256_HEX', SHA256.replace('7', '8'), false],
    ['HMAC_SHA256_HEX', '', false],
    ['HMAC_SHA256_HEX', 'not hex', false],
    ['HMAC_SHA256_HEX', undefined, false],
    ['constructor', SHA256, false],
  ])('of webhooks: %s %s is %s', (algorithm, digest, expected) => {
    expect(verifyDigest([KEY], algorithm, digest, body)).toBe(expected);
  });

  test('accept any configured secret, and nothing without one', () => {
    expect(verifyDigest(['new', KEY], undefined, SHA256, body)).toBe(true);
    expect(verifyDigest(['new'], undefined, SHA256, body)).toBe(false);
    expect(verifyDigest([], undefined, SHA256, body)).toBe(false);
  });
});

describe('applicants', () => {
  const read = (applicant: Partial<SumsubApplicant>) => toApplicant({ id: 'a1', ...applicant }).data;

  test('prefer extracted data over typed data, field by field', () => {
    expect(
      read({
        info: { firstName: 'ADA', lastName: ' ', dob: '1815-12-10' },
        fixedInfo: {
          firstName: 'Ada',
          lastName: 'Lovelace',
          dob: '1815-12-11',
          tin: '42',
          addresses: [
            { street: 'Main Street', buildingNumber: '7', flatNumber: '2b', town: 'Paris', country: 'FRA' },
          ],
        },
      }),
    ).toMatchObject({
      full_legal_name: 'ADA Lovelace',
      date_of_birth: '1815-12-10',
      tax_id: '42',
      street: 'Main Street, 7, 2b',
      city: 'Paris',
      country: 'FR',
    });
  });

  test('may lack any field, and invalid values become null', () => {
    expect(new Set(Object.values(read({})))).toEqual(new Set([null]));
    const odd = read({
      fixedInfo: { dob: '10.12.1815', addresses: [{ country: 'ZZZ', formattedAddress: 'Somewhere' }] },
    });
    expect(odd).toMatchObject({ date_of_birth: null, country: null, street: 'Somewhere' });
  });

  test('of companies have a name, a tax id and an address', () => {
    const companyInfo = { companyName: 'Acme', taxId: '12-34', country: 'XKX', legalAddress: '1 Road' };
    expect(read({ type: 'company', fixedInfo: { companyInfo } })).toMatchObject({
      full_legal_name: 'Acme',
      date_of_birth: null,
      tax_id: '12-34',
      street: '1 Road',
      country: 'XK',
    });
  });

  const review = (reviewStatus: string, reviewResult?: object) =>
    toApplicant({
      id: 'a1',
      review: {
        levelName: 'L',
        reviewStatus,
        reviewDate: '2026-03-02 10:00:00+0000',
        ...(reviewResult && { reviewResult }),
      },
    }).review;

  test('have an answer only when the review is completed', () => {
    const green = { reviewAnswer: 'GREEN' };
    expect(review('completed', green)).toMatchObject({
      status: 'completed',
      answer: 'GREEN',
      rejectType: null,
    });
    expect(review('init', green)).toMatchObject({ status: 'init', answer: null });
    expect(review('awaitingService', green)).toMatchObject({ status: 'awaitingService', answer: null });
    expect(review('completed', { reviewAnswer: 'YELLOW' })).toMatchObject({ status: 'queued', answer: null });
    expect(review('unknown')).toBeNull();
  });

  test('have the given rejection type, or RETRY without one', () => {
    expect(review('completed', { reviewAnswer: 'RED', reviewRejectType: 'FINAL' })?.rejectType).toBe('FINAL');
    expect(review('completed', { reviewAnswer: 'RED', rejectLabels: ['FORGERY'] })?.rejectType).toBe('RETRY');
  });

  test.each([
    ['2026-01-02 03:04:05+0000', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02 03:04:05.678', '2026-01-02T03:04:05.678Z'],
    ['2026-13-02 03:04:05', null],
    ['yesterday', null],
  ])('parse the time %s as %s', (text, expected) => {
    const time = readTime(text);
    expect(time === null ? null : new Date(time).toISOString()).toBe(expected);
  });
});

test('a signed webhook with an invalid body is malformed, and an unsigned one is not parsed', () => {
  for (const text of ['', '[]', '{"type":1}', '{"type":"applicantReviewed","applicantId":"../x"}']) {
    const body = Buffer.from(text);
    const digest = createHmac('sha256', KEY).update(body).digest('hex');
    expect(() => readSumsubWebhook([KEY], { 'x-payload-digest': digest }, body)).toThrow(
      'The event is malformed.',
    );
    expect(() => readSumsubWebhook([KEY], {}, body)).toThrow('access token');
  }
});

describe('calls to the provider', () => {
  let providers: Providers;
  beforeAll(async () => {
    providers = await startProviders();
  });
  afterAll(() => providers.stop());
  const open = (change: object = {}) => {
    const { identity } = providers.settings;
    if (identity === null) throw new Error('no settings');
    return openSumsub({ ...identity, ...change });
  };

  test.each([
    ['another secret', { secret: 'wrong' }],
    ['a token of another environment', { appToken: 'prd:unknown.unknown' }],
    ['a malformed token', { appToken: 'nonsense' }],
  ])('with %s fail with upstream_error and never report a missing applicant', async (_name, change) => {
    const provider = open(change);
    await expect(provider.findApplicant('somebody')).rejects.toMatchObject({ code: 'upstream_error' });
    await provider.close();
  });

  test('sign ids with special characters as they are sent', async () => {
    const provider = open();
    const userId = 'a b/c+d@e;f?g%';
    expect(await provider.findApplicant(userId)).toBeNull();
    await providers.call('identity/review', {
      user_id: userId,
      kind: 'person',
      email: 'x@y.z',
      level_name: 'BasicKYCLevel',
      answer: 'GREEN',
    });
    expect((await provider.findApplicant(userId))?.review).toMatchObject({
      levelName: 'BasicKYCLevel',
      answer: 'GREEN',
    });
    await provider.close();
  });

  test('distinguish a 5xx and a conflict from success', async () => {
    const provider = open();
    await providers.call('identity/one-shot-fault', { fault: 'error_500' });
    await expect(
      provider.createToken({ userId: 'u', level: 'BasicKYCLevel', email: 'x@y.z' }),
    ).rejects.toMatchObject({
      code: 'upstream_error',
    });
    await providers.call('identity/one-shot-fault', { fault: 'conflict' });
    expect(await provider.resetApplicant('000000000000000000000000')).toBe(false);
    await provider.close();
  });
});
