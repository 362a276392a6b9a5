import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp, testConfig } from '../../../test/support/app.ts';
import { loadConfig } from '../../kernel/config/config.ts';
import { clientNetwork } from './network.ts';

const request = (ip: string, peer = '192.0.2.1') =>
  ({ ip, raw: { socket: { remoteAddress: peer } } }) as never;

describe('the network of a client', () => {
  test.each([
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
  ])('of %s is %s', (ip, network) => expect(clientNetwork(request(ip))).toBe(network));

  test.each(['unknown', '', '1.2.3.4:5678', '999.1.1.1', 'x'.repeat(5000)])(
    'is the peer if the forwarded address is %j',
    (ip) => expect(clientNetwork(request(ip))).toBe('192.0.2.1'),
  );
});

test('TRUST_PROXY takes networks and the names loopback and private, but no blanket trust', () => {
  const read = (value: string) =>
    loadConfig({ CAUSEWAY_SECRET: Buffer.alloc(32).toString('base64'), TRUST_PROXY: value }).trustProxy;
  expect(read('')).toEqual([]);
  expect(read('none')).toEqual([]);
  expect(read('loopback, 203.0.113.0/24,198.51.100.7')).toEqual([
    '127.0.0.0/8',
    '::1/128',
    '203.0.113.0/24',
    '198.51.100.7',
  ]);
  expect(read('private')).toContain('10.0.0.0/8');
  for (const value of ['true', '1', 'proxy.example', '10.0.0.0/33'])
    expect(() => read(value)).toThrow(/TRUST_PROXY: must be/);
});

describe('behind a proxy', () => {
  let app: TestApp;
  const limits = { ...testConfig().limits, introspection: 2 };
  beforeAll(async () => {
    app = await testApp({ config: { trustProxy: ['10.0.0.0/8'], limits } });
  });
  afterAll(() => app.close());
  const introspect = async (remoteAddress: string, forwarded: string) =>
    (
      await app.app.inject({
        method: 'POST',
        url: '/oauth/introspect',
        payload: { token: 'x' },
        remoteAddress,
        headers: { 'x-forwarded-for': forwarded },
      })
    ).statusCode;

  test('a client cannot escape its limit by naming other addresses', async () => {
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push(await introspect('198.51.100.9', `203.0.113.${i}`));
    expect(statuses).toEqual([200, 200, 429, 429]);
  });

  test('clients of a trusted proxy are counted by their own address, or as the proxy if that is no address', async () => {
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push(await introspect('10.0.0.1', `203.0.113.${i}`));
    expect(statuses).toEqual([200, 200, 200, 200]);
    const junk = [];
    for (let i = 0; i < 4; i++) junk.push(await introspect('10.0.0.2', `unknown-${i}`));
    expect(junk).toEqual([200, 200, 429, 429]);
  });
});
