import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createLog, redact, redactText } from './log.ts';

function capture() {
  const lines: string[] = [];
  const log = createLog({
    level: 'trace',
    pretty: false,
    stream: { write: (line) => void lines.push(line) },
  });
  return { log, text: () => lines.join('') };
}

const token = 'AbCdEfGhIjKlMnOpQrStUvWxYz0123456789_-AbCdE';
const signature = `0x${'ab'.repeat(65)}`;
const hash = `0x${'cd'.repeat(32)}`;
const address = `0x${'ef'.repeat(20)}`;

test.each([
  ['a bearer header', `Bearer ${token}`],
  ['a basic header', 'Basic cGFydG5lcjpzZWNyZXQ='],
  ['an opaque token', `token ${token} was refused`],
  ['a JWT', 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'],
  ['a client secret', 'cws_0123456789abcdef'],
  ['a signature', `signature ${signature} fails`],
  ['an email address', 'user alice.b+c@mail.example.com signed in'],
  ['a password in a URL', 'postgres://causeway:hunter2@db.test/x'],
])('%s never reaches the log, at any position', (_name, text) => {
  const { log, text: logged } = capture();
  log.info(text);
  log.info({ note: text, deep: [{ deeper: { text } }] }, 'object');
  log.error({ err: new Error(text, { cause: new Error(text) }) }, 'error');
  for (const secret of [
    token,
    'cGFydG5lcjpzZWNyZXQ=',
    'c2lnbmF0dXJl',
    'cws_01',
    'abababab',
    'alice',
    'hunter2',
  ]) {
    expect(logged()).not.toContain(secret);
  }
  expect(logged().split('\n').filter(Boolean)).toHaveLength(3);
});

test('redacts members by name at any depth', () => {
  const secret = {
    password: 'x',
    access_token: 'x',
    clientSecret: 'x',
    Authorization: 'x',
    'set-cookie': 'x',
    email: 'x',
    tax_id: 'x',
    private_key: 'x',
    code: 'x',
  };
  expect(Object.values(redact({ a: [{ b: secret }] }) as object).flat()).toEqual([
    { b: Object.fromEntries(Object.keys(secret).map((key) => [key, '[redacted]'])) },
  ]);
});

test('keeps ids, hashes, addresses and statuses readable', () => {
  const useful = {
    request_id: '0193d2f0-8d2a-7e11-b0f5-2b7c2f0a9d11',
    hash,
    address,
    status: 200,
    amount: 5n,
    route: '/v1/offers/:id',
  };
  expect(redact(useful)).toEqual({ ...useful, amount: '5' });
  expect(redactText(`transaction ${hash} of ${address}`)).toContain(hash);
});

test('omits the row values that a database error quotes', () => {
  const { log, text } = capture();
  log.error(
    {
      err: Object.assign(new Error('duplicate key'), {
        code: '23505',
        constraint: 'users_email_ascii',
        detail: 'Key (email)=(secret row)',
      }),
    },
    'failed',
  );
  expect(text()).toContain('users_email_ascii');
  expect(text()).not.toContain('secret row');
});

test('writes the last request lines when the process exits', async () => {
  const log = new URL('./log.ts', import.meta.url);
  const program = `const { createLog, flushOnExit } = await import('${log}');
    const log = createLog({ level: 'info', pretty: false });
    flushOnExit(log);
    log.request({ n: 1 });
    process.exit(0);`;
  const args = ['--import', 'tsx', '--input-type=module', '-e', program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(JSON.parse(stdout)).toMatchObject({ n: 1, msg: 'request' });
});

test('writes request lines as one batch, in order, when flushed', () => {
  const { log, text } = capture();
  log.request({ n: 1 });
  log.request({ n: 2 });
  expect(text()).toBe('');
  log.flushRequests();
  expect(text().match(/"n":\d/g)).toEqual(['"n":1', '"n":2']);
});
