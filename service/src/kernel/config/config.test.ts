import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { inspectConfig, loadConfig } from './config.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'causeway-config-'));
afterAll(() => rmSync(dataDir, { recursive: true }));

const secret = Buffer.alloc(32, 1).toString('base64');
const production = {
  CAUSEWAY_PROFILE: 'production',
  SANCTIONS: 'none',
  DATABASE_URL: 'postgres://db.test/causeway',
  CAUSEWAY_SECRET: secret,
  PUBLIC_URL: 'https://invest.example/',
  SMTP_URL: 'smtps://mail.example',
  MAIL_FROM: 'Invest <no-reply@invest.example>',
  SUMSUB_APP_TOKEN: 'prd:token',
  SUMSUB_SECRET: 'secret',
  SUMSUB_WEBHOOK_SECRET: 'new, old',
  DOCUSEAL_URL: 'https://sign.example/api',
  DOCUSEAL_API_KEY: 'key',
  DOCUSEAL_TEMPLATE_W8_BEN: '1',
  DOCUSEAL_TEMPLATE_W8_BEN_E: '2',
  DOCUSEAL_WEBHOOK_SECRET: 'whsec_x',
};

test('without settings the profile is sandbox, with a secret that persists', () => {
  const first = loadConfig({ CAUSEWAY_DATA: dataDir });
  expect(first).toMatchObject({
    profile: 'sandbox',
    host: '127.0.0.1',
    port: 8080,
    databaseUrl: null,
    clock: 'real',
    demo: true,
  });
  expect(loadConfig({ CAUSEWAY_DATA: dataDir }).secrets).toEqual(first.secrets);
  expect(first.secrets[0]).toHaveLength(32);
  expect(statSync(join(dataDir, 'secret')).mode & 0o777).toBe(0o600);
});

test('an empty value counts as unset', () => {
  expect(loadConfig({ CAUSEWAY_DATA: dataDir, PORT: '', LOG_LEVEL: '' })).toMatchObject({
    port: 8080,
    logLevel: 'info',
  });
});

test('production reads its settings and removes trailing slashes', () => {
  expect(loadConfig(production)).toMatchObject({
    profile: 'production',
    publicUrl: 'https://invest.example',
    metrics: { port: 9464 },
    identity: { url: 'https://api.sumsub.com', webhookSecrets: ['new', 'old'] },
    documents: {
      url: 'https://sign.example/api',
      templates: { w8_ben: 1, w8_ben_e: 2 },
      webhookHeader: null,
    },
  });
});

test.each([
  ['SUMSUB_APP_TOKEN', 'sbx:token'],
  ['SUMSUB_APP_TOKEN', ''],
  ['SUMSUB_WEBHOOK_SECRET', ''],
  ['SUMSUB_URL', 'http://127.0.0.1:1'],
  ['DOCUSEAL_URL', 'http://127.0.0.1:1'],
  ['DOCUSEAL_TEMPLATE_W8_BEN', ''],
  ['DOCUSEAL_WEBHOOK_SECRET', ''],
  ['DOCUSEAL_WEBHOOK_HEADER', 'X-Key: short'],
])('production rejects %s=%s', (name, value) => {
  expect(() => loadConfig({ ...production, [name]: value })).toThrow(name);
});

test('production closes slow connections after 30 seconds', () => {
  expect(loadConfig(production).requestTimeoutSeconds).toBe(30);
});

test('webhooks of older DocuSeal installations can be authenticated by a header', () => {
  const header = { DOCUSEAL_WEBHOOK_SECRET: '', DOCUSEAL_WEBHOOK_HEADER: 'X-Key: 0123456789abcdef' };
  expect(loadConfig({ ...production, ...header }).documents?.webhookHeader).toEqual({
    name: 'x-key',
    value: '0123456789abcdef',
  });
});

test.each([
  ['CAUSEWAY_PROFILE', 'staging'],
  ['PORT', '70000'],
  ['PORT', '80a'],
  ['PORT', '-1'],
  ['CAUSEWAY_CLOCK', 'fast'],
  ['CAUSEWAY_DEMO', 'maybe'],
  ['LOG_LEVEL', 'loud'],
  ['DATABASE_URL', 'mysql://x'],
  ['DATABASE_URL', 'not a url'],
  ['RATE_LIMIT_API', '0'],
  ['RATE_LIMITS', 'memcached'],
  ['CAUSEWAY_SECRET', 'short'],
  ['TRUST_PROXY', 'maybe'],
])('rejects %s=%s and names the variable', (name, value) => {
  expect(() => loadConfig({ CAUSEWAY_DATA: dataDir, [name]: value })).toThrow(`${name}: must be`);
});

test.each(['DATABASE_URL', 'CAUSEWAY_SECRET', 'PUBLIC_URL'])(
  'production does not start without %s',
  (name) => {
    expect(() => loadConfig({ ...production, [name]: undefined })).toThrow(
      `${name}: is required in production`,
    );
  },
);

test('production rejects parts of the sandbox and plain http', () => {
  expect(() => loadConfig({ ...production, CAUSEWAY_CLOCK: 'test' })).toThrow('CAUSEWAY_CLOCK');
  expect(() => loadConfig({ ...production, CAUSEWAY_DEMO: 'on' })).toThrow('CAUSEWAY_DEMO');
  expect(loadConfig(production).demo).toBe(false);
  expect(() => loadConfig({ ...production, PUBLIC_URL: 'http://invest.example' })).toThrow('PUBLIC_URL');
});

test('a public sandbox serves other machines over https, but never with a production token', () => {
  const env = {
    ...{ CAUSEWAY_DATA: dataDir, CAUSEWAY_SANDBOX_PUBLIC: 'yes' },
    ...{ HOST: '0.0.0.0', PUBLIC_URL: 'https://sandbox.example' },
  };
  expect(loadConfig(env)).toMatchObject({ profile: 'sandbox', sandboxPublic: true, host: '0.0.0.0' });
  const real = { SUMSUB_APP_TOKEN: 'prd:x', SUMSUB_SECRET: 'x', SUMSUB_WEBHOOK_SECRET: 'x' };
  expect(() => loadConfig({ ...env, ...real })).toThrow('SUMSUB_APP_TOKEN: must not be a production token');
  expect(() => loadConfig({ ...production, CAUSEWAY_SANDBOX_PUBLIC: 'yes' })).toThrow(
    'CAUSEWAY_SANDBOX_PUBLIC: must not be set in production',
  );
});

test('an unknown name that resembles no setting is a warning', () => {
  const { warnings } = loadConfig({ CAUSEWAY_DATA: dataDir, CAUSEWAY_SERVICE_HOST: '10.0.0.1', OTHER: 'x' });
  expect(warnings).toEqual(['CAUSEWAY_SERVICE_HOST is not a setting and has no effect']);
});

test('reports all problems at once without repeating any value', () => {
  const load = () =>
    loadConfig({ CAUSEWAY_DATA: dataDir, PORT: 'hunter2', LOG_LEVEL: 'hunter2', CAUSEWAY_SECRET: 'hunter2' });
  expect(load).toThrow(/PORT[\s\S]*LOG_LEVEL|LOG_LEVEL[\s\S]*PORT/);
  expect(load).not.toThrow('hunter2');
});

test('the venue requires a key and is null without one', () => {
  expect(() => loadConfig({ CAUSEWAY_SECRET: 'A'.repeat(44), ONDO_URL: 'https://venue.test' })).toThrow(
    'ONDO_API_KEY: is required with ONDO_URL',
  );
  expect(loadConfig({ CAUSEWAY_SECRET: 'A'.repeat(44) }).venue).toBeNull();
  expect(loadConfig({ CAUSEWAY_SECRET: 'A'.repeat(44), ONDO_API_KEY: 'key' }).venue).toEqual({
    url: 'https://api.gm.ondo.finance',
    apiKey: 'key',
  });
});

test('the policy file limits the operator key to its contracts, and a wrong file is refused', () => {
  const file = join(dataDir, 'policy.json');
  const load = (text: string) => {
    writeFileSync(file, text);
    const key = `0x${'11'.repeat(32)}`;
    return loadConfig({ ...production, OPERATOR_KEY: key, OPERATOR_POLICY_FILE: file }).operatorKey?.policy;
  };
  const fund = `0x${'AB'.repeat(20)}`;
  expect(load(JSON.stringify({ ethereum_mainnet: [fund] }))).toEqual(
    new Map([[1, { targets: new Set([fund.toLowerCase()]), dailyFee: null, dailyAmounts: null }]]),
  );
  const vault = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
  const limits = { daily_fee: '5', daily_amounts: { [vault]: '6' } };
  expect(load(JSON.stringify({ solana_mainnet: { contracts: [vault], ...limits } }))).toEqual(
    new Map([
      ['solana_mainnet', { targets: new Set([vault]), dailyFee: 5n, dailyAmounts: new Map([[vault, 6n]]) }],
    ]),
  );
  const roles = { refund: { daily_amounts: { [fund]: '7' } }, supplier: { daily_permissions: '8' } };
  const targets = new Set([fund.toLowerCase()]);
  expect(load(JSON.stringify({ ethereum_mainnet: { contracts: [fund], daily_fee: '5', roles } }))).toEqual(
    new Map([
      [
        1,
        {
          ...{ targets, dailyFee: 5n, dailyAmounts: null },
          roles: new Map([
            ['refund', { targets, dailyFee: 5n, dailyAmounts: new Map([[fund.toLowerCase(), 7n]]) }],
            ['supplier', { targets, dailyFee: 5n, dailyAmounts: new Map([['permissions', 8n]]) }],
          ]),
        },
      ],
    ]),
  );
  const reasonOf = (text: string) => {
    try {
      load(text);
      return 'accepted';
    } catch (error) {
      const problem = String(error).match(/OPERATOR_POLICY_FILE: (.*)/)?.[1] ?? '';
      expect(problem).toMatch(/^must be a readable JSON file such as/);
      return problem.slice(problem.lastIndexOf('}; ') + 3);
    }
  };
  const inChain = (members: string) => `{"ethereum_mainnet": {"contracts": []${members}}}`;
  const secret = `0x${'5e'.repeat(32)}`;
  for (const [wrong, reason] of [
    ['', 'the file is not valid JSON'],
    [secret, 'the file is not valid JSON'],
    ['[1]', 'the file must contain an object'],
    ['null', 'the file must contain an object'],
    ['{"moon": []}', 'moon is not a chain'],
    ['{"toString": []}', 'toString is not a chain'],
    ['{"ethereum_mainnet": "0x"}', 'ethereum_mainnet must be an object or a list of contracts'],
    [`{"ethereum_mainnet": ["${fund}", "${secret}"]}`, 'ethereum_mainnet.contracts[1] must be an address'],
    ['{"ethereum_mainnet": {"daily_fee": "1"}}', 'ethereum_mainnet.contracts must be a list of addresses'],
    ['{"solana_mainnet": {"contracts": "0x"}}', 'solana_mainnet.contracts must be a list of addresses'],
    [inChain(', "daily_fees": "1"'), 'ethereum_mainnet.daily_fees is unknown'],
    [
      inChain(', "daily_fee": 1'),
      'ethereum_mainnet.daily_fee must be an amount in smallest units, as a string',
    ],
    [inChain(', "daily_amounts": "1"'), 'ethereum_mainnet.daily_amounts must be an object'],
    [
      inChain(', "daily_amounts": {"0x": "1"}'),
      'ethereum_mainnet.daily_amounts must have token addresses as keys',
    ],
    [
      inChain(`, "daily_amounts": {"${fund}": "1.5"}`),
      `ethereum_mainnet.daily_amounts.${fund} must be an amount in smallest units, as a string`,
    ],
    [inChain(`, "${secret}": []`), 'ethereum_mainnet.[redacted] is unknown'],
    [
      inChain(`, "roles": {"${secret}": {}}`),
      'ethereum_mainnet.roles.[redacted] is not one of commit, refund, quote, supplier',
    ],
    [inChain(', "roles": []'), 'ethereum_mainnet.roles must be an object'],
    [inChain(', "roles": {"refund": null}'), 'ethereum_mainnet.roles.refund must be an object'],
    [
      inChain(', "roles": {"owner": {}}'),
      'ethereum_mainnet.roles.owner is not one of commit, refund, quote, supplier',
    ],
    [
      inChain(', "roles": {"quote": {"daily_permissions": "1"}}'),
      'ethereum_mainnet.roles.quote.daily_permissions is allowed only for the supplier role',
    ],
    [
      inChain(', "roles": {"supplier": {"daily_permissions": 1}}'),
      'ethereum_mainnet.roles.supplier.daily_permissions must be a string of digits: the number of permissions per day',
    ],
  ] as const)
    expect(reasonOf(wrong)).toBe(reason);
  const missing = { OPERATOR_KEY: secret, OPERATOR_POLICY_FILE: join(dataDir, 'missing.json') };
  expect(() => loadConfig({ ...production, ...missing })).toThrow('; the file cannot be read (ENOENT)');
});

test('replaced keys are listed with the role that they had, or with both', () => {
  const aws = { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
  const load = (text: string) =>
    loadConfig({ ...production, ...aws, OPERATOR_RETIRED_KEYS: text }).retiredKeys;
  expect(load(`refund=0x${'33'.repeat(32)},commit=alias/old,arn:aws:kms:eu-central-1:1:key/2`)).toMatchObject(
    [
      { roles: ['refund'], key: { kind: 'local', privateKey: Buffer.alloc(32, 0x33) } },
      { roles: ['commit'], key: { kind: 'kms', key: { keyId: 'alias/old' } } },
      {
        roles: ['commit', 'refund'],
        key: { kind: 'kms', key: { keyId: 'arn:aws:kms:eu-central-1:1:key/2' } },
      },
    ],
  );
  for (const wrong of ['quote=alias/old', 'refund=', '0x33', 'refund=0x33', 'commit=refund=alias/old'])
    expect(() => load(wrong), wrong).toThrow('OPERATOR_RETIRED_KEYS: must be');
});

test('the keys file gives roles and chains keys of their own, with the policy, and a wrong file is refused', () => {
  const [file, secret, policy] = ['keys.json', 'refund.key', 'policy.json'].map((name) =>
    join(dataDir, name),
  );
  writeFileSync(String(secret), `0x${'22'.repeat(32)}\n`);
  writeFileSync(String(policy), '{"base_mainnet": []}');
  const aws = { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
  const load = (text: string, more: object = aws) => {
    writeFileSync(String(file), text);
    const settings = { OPERATOR_KEYS_FILE: file, OPERATOR_POLICY_FILE: policy };
    return loadConfig({ ...production, ...more, ...settings }).roleKeys;
  };
  const keys = { refund: { file: secret }, base_mainnet: { commit: { kms: 'alias/commit' } } };
  expect(load(JSON.stringify(keys))).toMatchObject([
    { role: 'refund', chain: null, key: { kind: 'local', privateKey: Buffer.alloc(32, 0x22) } },
    { role: 'commit', chain: 'base_mainnet', key: { kind: 'kms', key: { keyId: 'alias/commit' } } },
  ]);
  for (const { key } of load(JSON.stringify(keys))) expect(key?.policy?.get(8453)?.targets.size).toBe(0);
  const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
  expect(load(JSON.stringify({ commit: { address } }))).toEqual([
    { role: 'commit', chain: null, key: null, address: address.toLowerCase() },
  ]);
  expect(() => load(JSON.stringify(keys), {})).toThrow('AWS_REGION: is required with a KMS key');
  for (const wrong of [
    '',
    '[]',
    '{"owner": {"kms": "a"}}',
    '{"commit": "0x11"}',
    '{"commit": {"key": "0x11"}}',
    '{"commit": {"kms": "a", "file": "b"}}',
    '{"commit": {"address": "0x11"}}',
    `{"quote": {"address": "${address}"}}`,
    `{"solana_mainnet": {"commit": {"address": "${address}"}}}`,
    '{"solana_mainnet": {"supplier": {"kms": "a"}}}',
    '{"solana": {"commit": {"kms": "a"}}}',
    '{"base_mainnet": {"owner": {"kms": "a"}}}',
  ])
    expect(() => load(wrong), wrong).toThrow('OPERATOR_KEYS_FILE: must be a readable JSON file');
  const pasted = `0x${'5e'.repeat(32)}`;
  const solana = '4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi';
  const numbers = JSON.stringify([...Buffer.alloc(64, 7)]);
  const placesOf = (key: string) => [
    key,
    { [key]: { commit: { kms: 'a' } } },
    { base_mainnet: { [key]: { kms: 'a' } } },
    ...['address', 'file', key].map((member) => ({ commit: { [member]: member === key ? 'x' : key } })),
    { solana_mainnet: { commit: { file: key } } },
  ];
  for (const key of [pasted, pasted.slice(2), solana, numbers])
    for (const wrong of placesOf(key)) {
      const hidden = expect.not.objectContaining({ message: expect.stringContaining(key) });
      expect(() => load(typeof wrong === 'string' ? wrong : JSON.stringify(wrong)), key).toThrow(hidden);
    }
  for (const name of ['OPERATOR_KEY_FILE', 'SOLANA_OPERATOR_KEY_FILE'])
    expect(() => loadConfig({ ...production, ...aws, [name]: pasted })).toThrow(
      `${name}: must be a readable file; ${process.cwd()}/[redacted] does not exist`,
    );
  const pem = '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAl0+O\n-----END PRIVATE KEY-----\n';
  expect(() => loadConfig({ ...production, ...aws, OPERATOR_KEY_FILE: pem })).toThrow(
    `OPERATOR_KEY_FILE: must be a readable file; ${process.cwd()}/[redacted]`,
  );
  expect(() => load(`{"commit": {"address": "${pasted}"}}`)).toThrow('the address of commit is invalid');
  expect(() => load('{')).toThrow('; the file is not valid JSON');
  expect(() => load('{"commit": {"file": "/nowhere"}}')).toThrow('/nowhere does not exist');
  for (const role of [{ commit: { file: dataDir } }, { solana_mainnet: { commit: { file: dataDir } } }])
    expect(() => load(JSON.stringify(role))).toThrow(`${dataDir} cannot be read (EISDIR)`);
});

test('a private key in the place of a KMS key id is refused in one line that does not quote it', () => {
  const aws = { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
  const problemsOf = (settings: object) => inspectConfig({ ...production, ...aws, ...settings }).problems;
  const inFile = (name: string, member: object) => {
    writeFileSync(join(dataDir, name), JSON.stringify(member));
    return { OPERATOR_KEYS_FILE: join(dataDir, name) };
  };
  const placesOf = (key: string) => [
    { OPERATOR_KMS_KEY: key },
    { SOLANA_OPERATOR_KMS_KEY: key },
    inFile('kms-keys.json', { commit: { kms: key } }),
    inFile('kms-solana-keys.json', { solana_mainnet: { refund: { kms: key } } }),
  ];
  const hex = '5e'.repeat(32);
  const pem = `-----BEGIN EC PRIVATE KEY-----\nMHQCAQEEIAABC0+/Ok0l\n-----END EC PRIVATE KEY-----`;
  const phrase = 'test test test test test test test test test test test junk';
  const numbers = JSON.stringify([...Buffer.alloc(64, 7)]);
  for (const key of [
    hex,
    `0x${hex}`,
    hex.slice(1),
    pem,
    pem.replaceAll('\n', '\\n'),
    Buffer.alloc(32, 251).toString('base64'),
    'wJalrXUtnFEMI-K7MDENG_bPxRfiCYEXAMPLEKEY0Ol',
    '4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi',
    numbers,
    phrase,
  ]) {
    for (const place of placesOf(key)) {
      const problems = problemsOf(place);
      expect(problems, JSON.stringify(place)).toHaveLength(1);
      expect(problems[0]).toContain('the id, alias or ARN of a KMS key, not a private key');
      expect(problems[0]).not.toContain(key);
    }
    const [retired = '', ...more] = problemsOf({ OPERATOR_RETIRED_KEYS: `refund=${key}` });
    if (key !== `0x${hex}`) expect(retired, key).toContain('OPERATOR_RETIRED_KEYS: must be');
    for (const problem of [retired, ...more]) expect(problem).not.toContain(key);
  }
  for (const id of [
    '1234abcd-12ab-34cd-56ef-1234567890ab',
    'mrk-1234abcd12ab34cd56ef1234567890ab',
    'alias/causeway_operator-1',
    'alias/TheKeyThatCommitsAndRefundsParticipationsForEveryFund',
    'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab',
    'arn:aws-us-gov:kms:us-gov-west-1:111122223333:alias/causeway/operator',
  ]) {
    for (const place of [...placesOf(id), { OPERATOR_RETIRED_KEYS: id }])
      expect(problemsOf(place), id).toEqual([]);
  }
});

test('the keys file gives roles on a Solana cluster keys of that protocol', () => {
  const [file, secret] = ['solana-keys.json', 'solana.key'].map((name) => join(dataDir, name));
  const aws = { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
  const load = (keys: object) => {
    writeFileSync(String(file), JSON.stringify({ solana_mainnet: keys }));
    return loadConfig({ ...production, ...aws, OPERATOR_KEYS_FILE: file }).roleKeys;
  };
  writeFileSync(String(secret), JSON.stringify([...Buffer.alloc(32, 5)]));
  const keys = { commit: { file: secret }, refund: { kms: 'alias/refund' } };
  expect(load(keys)).toMatchObject([
    { role: 'commit', chain: 'solana_mainnet', key: { kind: 'local', privateKey: Buffer.alloc(32, 5) } },
    { role: 'refund', chain: 'solana_mainnet', key: { kind: 'kms', key: { keyId: 'alias/refund' } } },
  ]);
  for (const role of ['quote', 'supplier'])
    expect(() => load({ [role]: { file: secret } })).toThrow(`${role} is not a role on solana_mainnet`);
  writeFileSync(String(secret), `0x${'22'.repeat(32)}\n`);
  expect(() => load(keys)).toThrow('OPERATOR_KEYS_FILE: must be a file that contains an Ed25519 key');
});
