import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { hasUnitedStatesCountry } from '../../domain/documents/form-values.ts';
import { validUntil } from '../../domain/requirements/validity.ts';
import { realTime } from '../../kernel/clock.ts';
import { readDocusealWebhook, verifySignature } from './docuseal.ts';

const SECRET = 'whsec_dGVzdC1zZWNyZXQtMjQtYnl0ZXMtbG9uZw==';
const BODY = Buffer.from(
  '{"event_type":"form.viewed","timestamp":"2026-01-01T00:00:00.000Z","data":{"id":1}}',
);
const SIGNATURE = '1700000000.27669792911a5fc949474df955da778ebc719047e7eb7ca75abefb3c95273ded';
const THEN = 1_700_000_000_000;

describe('webhook signatures', () => {
  test('match the published vector', () => expect(verifySignature(SECRET, SIGNATURE, BODY, THEN)).toBe(true));

  test.each([
    ['300 s early', THEN - 300_000, true],
    ['300 s late', THEN + 300_000, true],
    ['301 s early', THEN - 301_000, false],
    ['301 s late', THEN + 301_000, false],
  ])('%s: %s', (_name, now, expected) => {
    expect(verifySignature(SECRET, SIGNATURE, BODY, now)).toBe(expected);
  });

  test.each([
    ['another secret', 'whsec_x', SIGNATURE, BODY],
    ['another body', SECRET, SIGNATURE, Buffer.from('{}')],
    ['another time', SECRET, SIGNATURE.replace('1700000000', '1700000001'), BODY],
    ['no signature', SECRET, undefined, BODY],
    ['two signatures', SECRET, [SIGNATURE, SIGNATURE], BODY],
    ['half a signature', SECRET, SIGNATURE.slice(0, -2), BODY],
  ])('are refused with %s', (_name, secret, header, body) => {
    expect(verifySignature(secret, header, body, THEN)).toBe(false);
  });
});

describe('webhook senders', () => {
  const sign = (secret: string) => {
    const seconds = Math.floor(realTime() / 1000);
    const digest = createHmac('sha256', secret).update(`${seconds}.`).update(BODY).digest('hex');
    return { 'x-docuseal-signature': `${seconds}.${digest}` };
  };
  const header = { name: 'x-key', value: '0123456789abcdef' };

  test('must sign with a configured secret; the plain header is ignored then', () => {
    const settings = { webhookSecrets: ['new', SECRET], webhookHeader: header };
    expect(readDocusealWebhook(settings, sign(SECRET), BODY)).toMatchObject({ status: 'VIEWED' });
    expect(() => readDocusealWebhook(settings, { 'x-key': header.value }, BODY)).toThrow('access token');
  });

  test('may use the plain header if no secret is configured', () => {
    const settings = { webhookSecrets: [], webhookHeader: header };
    expect(readDocusealWebhook(settings, { 'x-key': header.value }, BODY)).toMatchObject({
      status: 'VIEWED',
    });
    for (const value of ['0123456789abcdeF', '', undefined, [header.value]])
      expect(() => readDocusealWebhook(settings, { 'x-key': value }, BODY)).toThrow('access token');
  });

  test('are refused if nothing is configured', () => {
    expect(() => readDocusealWebhook({ webhookSecrets: [], webhookHeader: null }, {}, BODY)).toThrow(
      'access token',
    );
  });
});

test.each([
  ['2015-09-30T00:00:00Z', '2019-01-01T00:00:00.000Z'],
  ['2026-01-01T00:00:00Z', '2030-01-01T00:00:00.000Z'],
  ['2026-12-31T23:59:59Z', '2030-01-01T00:00:00.000Z'],
])('a form signed %s is valid until %s', (signed, until) => {
  expect(new Date(validUntil(Date.parse(signed))).toISOString()).toBe(until);
});

test.each([
  ['Country', 'United States', true],
  ['country', 'us', true],
  ['COUNTRY_OF_CITIZENSHIP', 'U.S.A.', true],
  ['Country Of Citizenship', '  the united states  of america', true],
  ['Country', 'Guam', true],
  ['Country', 'VI', true],
  ['City', 'United States', false],
  ['Country', 'United Kingdom', false],
  ['Country', 'Russia', false],
  ['Country', '', false],
])('%s = %j names the United States: %s', (field, value, expected) => {
  expect(hasUnitedStatesCountry({ [field]: value })).toBe(expected);
});
