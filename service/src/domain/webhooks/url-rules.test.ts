import { describe, expect, test } from 'vitest';
import type { Resolve } from './url-rules.ts';
import { createAddressRules, createUrlRules, systemResolver } from './url-rules.ts';

const NAMES: Record<string, string[]> = {
  'public.test': ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  'mixed.test': ['93.184.215.14', '10.0.0.1'],
  'internal.test': ['10.1.2.3'],
};
const resolve: Resolve = async (host) => {
  const local = await systemResolver()(host.endsWith('.test') ? '0.0.0.0' : host);
  return NAMES[host] ?? (host.endsWith('.test') ? [] : local);
};
const OWN = 'https://api.causeway.test';

async function check(url: string, allowCidrs: string[] = [], baseUrl = OWN): Promise<string> {
  const rules = createUrlRules(createAddressRules(allowCidrs), baseUrl, resolve);
  return rules.check(url).then(
    () => 'ok',
    (error) => `${error.code} ${error.details?.reason ?? ''}`.trim(),
  );
}

const LOCAL_HOSTS = [
  '127.0.0.1',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '2130706433',
  '0x7f.1',
  '017700000001',
  '127.1',
  '0',
  '169.254.169.254',
  '168.63.129.16',
  '[::ffff:168.63.129.16]',
  '100.100.100.200',
  '[fd00:ec2::254]',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:7f00:1::]',
  '[fe80::1]',
  '[ff02::1]',
  '10.0.0.1',
  '192.168.0.1',
  '172.16.0.1',
  'localhost',
  'localhost.',
  'public.test.',
  '[localhost]',
  '[public.test]',
  'mixed.test',
  'internal.test',
  'user:password@public.test',
  'user@public.test',
];

describe('URL rules', () => {
  test.each(LOCAL_HOSTS)('https://%s is refused', async (host) => {
    expect(await check(`https://${host}/hooks`)).toBe('webhook_url_refused address');
  });

  test.each([
    ['https://public.test/hooks', 'ok'],
    ['https://public.test:8443/hooks', 'ok'],
    ['http://public.test/hooks', 'webhook_url_refused not_https'],
    ['http://127.0.0.1:9000/', 'webhook_url_refused not_https'],
    ['ftp://public.test/', 'webhook_url_refused not_https'],
    ['https://unknown.test/', 'webhook_url_refused unresolvable'],
    ['https://api.causeway.test/webhooks/identity', 'webhook_url_refused own_address'],
    ['https://api.causeway.test:8443/', 'webhook_url_refused own_address'],
    ...[22, 25, 80, 6379, 5432].map((port) => [`https://public.test:${port}/`, 'webhook_url_refused port']),
    ['nonsense', 'validation_failed'],
  ])('%s: %s', async (url, outcome) => {
    expect(await check(url)).toBe(outcome);
  });

  test('an allowed network admits http, but not the service itself', async () => {
    const allowed = ['127.0.0.0/8', '::1/128'];
    const own = 'http://127.0.0.1:8080';
    expect(await check('http://127.0.0.1:49152/hooks', allowed, own)).toBe('ok');
    expect(await check('http://localhost:49152/hooks', allowed, own)).toBe('ok');
    expect(await check('http://127.0.0.1:8080/v1', allowed, own)).toBe('webhook_url_refused own_address');
    expect(await check('http://localhost:8080/v1', allowed, own)).toBe('webhook_url_refused own_address');
    expect(await check('http://127.0.0.1:6379/', allowed, own)).toBe('webhook_url_refused port');
    expect(await check('http://10.0.0.1/', allowed, own)).toBe('webhook_url_refused not_https');
    expect(await check('https://10.0.0.1/', allowed, own)).toBe('webhook_url_refused address');
  });
});
