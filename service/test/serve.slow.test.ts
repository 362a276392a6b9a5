import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findPostgres } from '@causeway/sandbox/postgres/server.ts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCauseway, type Service, startService } from './support/service.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'causeway-serve-'));
let service: Service;
beforeAll(async () => {
  service = await startService({ CAUSEWAY_DATA: dataDir });
});
afterAll(async () => {
  await service.discard();
  rmSync(dataDir, { recursive: true, force: true });
});

const get = async (path: string) => {
  const reply = await fetch(service.url + path);
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
};

/** Writes pages that PostgreSQL has to flush to disk before it stops. */
async function writePages(folder: string): Promise<void> {
  const client = new pg.Client({ connectionString: (await findPostgres(folder)) ?? '' });
  await client.connect();
  await client.query('create table pages (bytes text storage external)');
  await client.query(`insert into pages select repeat('x', 8000) from generate_series(1, 12000)`);
  await client.end();
}

describe('the running service', () => {
  test('reports that it is alive and that its dependencies are ready', async () => {
    expect(JSON.parse((await get('/health')).text)).toEqual({ object: 'health', status: 'ok' });
    expect(JSON.parse((await get('/health/ready')).text)).toMatchObject({
      object: 'readiness',
      parts: { database: 'ok' },
    });
  });

  test('prints a curl command that works when pasted', async () => {
    const line = /^ {2}(curl .*)$/m.exec(service.output())?.[1] ?? '';
    const { stdout } = await promisify(execFile)('bash', ['-c', line]);
    expect(JSON.parse(stdout)).toHaveProperty('object');
  });

  test('serves the committed OpenAPI document', async () => {
    const committed = await import('../../openapi.json', { with: { type: 'json' } });
    expect(JSON.parse((await get('/openapi.json')).text)).toEqual(committed.default);
  });

  test('serves an API reference that loads nothing from other hosts', async () => {
    const page = await get('/docs');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(page.text).not.toMatch(/https?:\/\//);
    const script = await get('/docs/reference.js');
    expect([script.status, script.text.length > 1_000_000]).toEqual([200, true]);
  });

  test('answers sandbox controls only to local requests that no proxy forwarded', async () => {
    const { port } = new URL(service.url);
    const status = async (headers: Record<string, string>, path = '/sandbox') => {
      const [response] = await once(request(`${service.url}${path}`, { headers }).end(), 'response');
      response.resume();
      return response.statusCode;
    };
    expect(await status({})).toBe(200);
    expect(await status({ host: `localhost:${port}` })).toBe(200);
    expect(await status({ host: 'attacker.example' })).toBe(403);
    expect(await status({ host: 'localhost.attacker.example' })).toBe(403);
    for (const name of ['x-forwarded-for', 'x-forwarded-host', 'forwarded', 'x-real-ip', 'via'])
      expect(await status({ [name]: '203.0.113.1' })).toBe(403);
    expect(await status({ host: 'attacker.example' }, '/sandbox/mailbox')).toBe(403);
  });

  test('shows the mail of the sandbox on a page', async () => {
    const form = await get('/forgot');
    const csrf = /name="csrf" value="([^"]+)"/.exec(form.text)?.[1] ?? '';
    const cookie = form.headers.getSetCookie().map((one) => one.split(';')[0]);
    const sent = await fetch(`${service.url}/forgot`, {
      method: 'POST',
      headers: { cookie: cookie.join('; '), origin: service.url },
      body: new URLSearchParams({ csrf, email: 'ada@sandbox.test' }),
    });
    expect(await sent.text()).toContain('href="/sandbox/mailbox"');
    const mailbox = await get('/sandbox/mailbox');
    expect(mailbox.headers.get('content-type')).toContain('text/html');
    expect(mailbox.text).toMatch(/To ada@sandbox\.test[\s\S]+href="http[^"]+token=[^"]+">Open link/);
  });

  test('serves metrics only on their own port', async () => {
    const metrics = /Metrics\s+(\S+)/.exec(service.output())?.[1] ?? '';
    expect(await (await fetch(metrics)).text()).toContain('causeway_http_request_duration_seconds_bucket');
    expect((await get('/metrics')).status).toBe(404);
  });

  test('on SIGTERM turns readiness red, then drains and exits with 0 within 5 s despite silent connections and an unfinished request', async () => {
    const { hostname, port } = new URL(service.url);
    const silent = connect(Number(port), hostname);
    silent.on('error', () => undefined);
    const partial = connect(Number(port), hostname, () =>
      partial.write('GET /health HTTP/1.1\r\nhost: x\r\n'),
    );
    partial.on('error', () => undefined);
    // A request without the end of its body stays open for the whole drain.
    const unfinished = connect(Number(port), hostname, () =>
      unfinished.write(
        'POST /oauth/introspect HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{',
      ),
    );
    unfinished.on('error', () => undefined);
    await writePages(dataDir);
    await get('/health');
    const since = performance.now();
    const stopped = service.stop('SIGTERM');
    await expect.poll(async () => (await get('/health/ready')).status, { interval: 50 }).toBe(503);
    const answer = await get('/health');
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    expect(await stopped).toBe(0);
    expect(performance.now() - since).toBeLessThan(5_000);
  });

  test('starts again on the same data', async () => {
    service = await startService({ CAUSEWAY_DATA: dataDir });
    expect((await get('/health/ready')).status).toBe(200);
  });

  test('exits with 0 while a statement of a worker waits for a lock, and starts again', async () => {
    const client = new pg.Client({ connectionString: (await findPostgres(dataDir)) ?? '' });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('begin; lock table operator_keys');
    const waiting = `select from pg_locks where not granted and relation = 'operator_keys'::regclass`;
    await expect.poll(async () => (await client.query(waiting)).rowCount, { timeout: 5_000 }).not.toBe(0);
    // A stop that takes too long ends with another code.
    expect(await service.stop('SIGTERM')).toBe(0);
    await client.end().catch(() => undefined);
    service = await startService({ CAUSEWAY_DATA: dataDir });
    expect((await get('/health/ready')).status).toBe(200);
  });

  test('starts again after all its processes were killed at once', async () => {
    await service.stop('SIGKILL');
    service = await startService({ CAUSEWAY_DATA: dataDir });
    expect((await get('/health/ready')).status).toBe(200);
  });
});

describe('npm start', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-npm-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('serves an IPv6 address, and a signal to npm stops the service', async () => {
    const started = await startService({ CAUSEWAY_DATA: folder, HOST: '::1' }, ['npm', 'start']);
    expect(started.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await fetch(`${started.url}/health/ready`)).status).toBe(200);
    expect((await fetch(`${started.url}/sandbox`)).status).toBe(200);
    await started.stop('SIGTERM');
    await expect.poll(() => fetch(`${started.url}/health`).catch(() => 'stopped')).toBe('stopped');
  });
});

const run = (args: string[], env: Record<string, string> = {}) =>
  runCauseway(args, { CAUSEWAY_DATA: dataDir, ...env });

const COMMANDS = [
  'serve',
  'init',
  'doctor',
  'migrate',
  'partner',
  'webhook',
  'listen',
  'offer',
  'participation',
  'operator',
  'settlement',
  'solana',
  'user',
  'sanctions',
  'audit',
  'keys',
  'verify-calldata',
  'errors',
  'settings',
];

describe('the command line', () => {
  test('--help lists exactly the commands, each with a summary', async () => {
    const { code, text } = await run(['--help']);
    expect(code).toBe(0);
    const listed = [...text.matchAll(/^ {2}causeway ([a-z-]+) +\S.*$/gm)].map(([, name]) => name);
    expect(listed).toEqual(COMMANDS);
  });

  test.each(COMMANDS)(
    '%s --help prints its own usage, description, subcommands and an example',
    async (name) => {
      const { code, text } = await run([name, '--help']);
      expect(code).toBe(0);
      expect(text).toMatch(new RegExp(`^Usage:\\n  causeway ${name}\\b`));
      expect(text).toMatch(/\n\n[A-Za-z][^\n]{30,}/);
      expect(text).toMatch(new RegExp(`\\nExamples:\\n  # .+\\n  causeway ${name}\\b`));
      const [usage = '', ...sections] = text.split('\n\n');
      const described = sections.find((section) => section.startsWith('Commands:'));
      for (const [, subcommand] of usage.matchAll(/^ {2}causeway [a-z-]+ ([a-z][a-z-]+)/gm))
        expect(described).toMatch(new RegExp(`^ {2}${subcommand}[ a-z]*  \\S`, 'm'));
    },
  );

  test('help COMMAND and COMMAND SUBCOMMAND --help print the help of the command', async () => {
    const { text } = await run(['partner', '--help']);
    expect(text).toContain('--grace-hours HOURS');
    expect(await run(['help', 'partner'])).toEqual({ code: 0, text });
    expect(await run(['partner', 'create', '-h'])).toEqual({ code: 0, text });
  });

  test.each([
    [['dance'], 'unknown command "dance"; "causeway --help" lists the commands'],
    [['migrate', '--sideways'], 'See causeway migrate --help.'],
    [['migrate'], 'DATABASE_URL: is required by migrate'],
    [['participation', 'export'], 'participation export requires --csv, the only supported format'],
    [['audit', 'verify', '--checkpoint', '/nowhere'], '/nowhere cannot be read: ENOENT'],
    [['audit', 'verify', '--checkpoint', 'package.json'], 'package.json is not a checkpoint of an audit log'],
    [['solana', 'vaults', 'solana_mainnet'], 'solana_mainnet has no RPC URL; set RPC_URL_SOLANA_MAINNET'],
  ])('%j exits with 2 and says what to do', async (args, message) => {
    const { code, text } = await run(args);
    expect(code).toBe(2);
    expect(text).toContain(message);
    expect(text).not.toContain('    at ');
  });

  const unreachable = { DATABASE_URL: 'postgres://user:sekret@127.0.0.1:1/db' };
  test.each<[string[], string, Record<string, string>?]>([
    [['errors', '--write', '/nowhere/x'], "causeway: ENOENT: no such file or directory, open '/nowhere/x'"],
    [['participation', 'export', '--csv', '--write', '/nowhere/x'], "open '/nowhere/x'"],
    [['partner', 'list'], 'causeway: connect ECONNREFUSED 127.0.0.1:1; "causeway doctor"', unreachable],
    [['migrate'], 'causeway: connect ECONNREFUSED 127.0.0.1:1; "causeway doctor"', unreachable],
  ])('%j exits with 1 and a message without a stack trace', async (args, message, env) => {
    const { code, text } = await run(args, env);
    expect(text).toContain(message);
    expect(text).not.toContain('    at ');
    expect(text).not.toContain('sekret');
    expect(code).toBe(1);
  });

  test('production names every missing setting and starts nothing', async () => {
    const { code, text } = await run(['serve'], { CAUSEWAY_PROFILE: 'production' });
    expect(code).toBe(2);
    for (const name of ['DATABASE_URL', 'CAUSEWAY_SECRET', 'PUBLIC_URL'])
      expect(text).toContain(`${name}: is required`);
  });
});
