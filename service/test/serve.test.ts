import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService } from './support/service.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'causeway-serve-'));
let service: Service;
beforeAll(async () => {
  service = await startService({ CAUSEWAY_DATA: dataDir });
});
afterAll(async () => {
  await service.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const get = async (path: string) => {
  const reply = await fetch(service.url + path);
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
};

describe('the running service', () => {
  test('says that it lives, and that what it needs answers', async () => {
    expect(JSON.parse((await get('/health')).text)).toEqual({ object: 'health', status: 'ok' });
    expect(JSON.parse((await get('/health/ready')).text)).toMatchObject({
      object: 'readiness',
      parts: { database: 'ok' },
    });
  });

  test('prints a curl that works when pasted', async () => {
    const line = /^ {2}(curl .*)$/m.exec(service.output())?.[1] ?? '';
    const { stdout } = await promisify(execFile)('bash', ['-c', line]);
    expect(JSON.parse(stdout)).toHaveProperty('object');
  });

  test('serves the same OpenAPI document that is committed', async () => {
    const committed = await import('../../openapi.json', { with: { type: 'json' } });
    expect(JSON.parse((await get('/openapi.json')).text)).toEqual(committed.default);
  });

  test('serves a reference that loads nothing from elsewhere', async () => {
    const page = await get('/docs');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(page.text).not.toMatch(/https?:\/\//);
    const script = await get('/docs/reference.js');
    expect([script.status, script.text.length > 1_000_000]).toEqual([200, true]);
  });

  test('gives metrics on a port of their own only', async () => {
    const metrics = /Metrics\s+(\S+)/.exec(service.output())?.[1] ?? '';
    expect(await (await fetch(metrics)).text()).toContain('causeway_http_request_duration_seconds_bucket');
    expect((await get('/metrics')).status).toBe(404);
  });

  test('stops in order when asked, and starts again on the same data', async () => {
    expect(await service.stop('SIGTERM')).toBe(0);
    service = await startService({ CAUSEWAY_DATA: dataDir });
    expect((await get('/health/ready')).status).toBe(200);
  });

  test('starts again after everything was killed at once', async () => {
    await service.stop('SIGKILL');
    service = await startService({ CAUSEWAY_DATA: dataDir });
    expect((await get('/health/ready')).status).toBe(200);
  });
});

const bin = fileURLToPath(new URL('../bin/causeway.mjs', import.meta.url));
const run = (args: string[], env: Record<string, string> = {}) =>
  promisify(execFile)(process.execPath, [bin, ...args], {
    env: { PATH: process.env.PATH, CAUSEWAY_DATA: dataDir, ...env },
  }).then(
    ({ stdout }) => ({ code: 0, text: stdout }),
    (error) => ({ code: error.code as number, text: String(error.stderr) }),
  );

describe('the command line', () => {
  test('--help lists the commands', async () => {
    const { code, text } = await run(['--help']);
    expect(code).toBe(0);
    for (const command of ['serve', 'migrate', 'openapi']) expect(text).toContain(`causeway ${command}`);
  });

  test.each([[['dance']], [['migrate', '--sideways']], [['migrate']]])(
    '%j is refused in one sentence with exit code 2',
    async (args) => {
      const { code, text } = await run(args);
      expect(code).toBe(2);
      expect(text).not.toContain('    at ');
    },
  );

  test('production names every missing setting and starts nothing', async () => {
    const { code, text } = await run(['serve'], { CAUSEWAY_PROFILE: 'production' });
    expect(code).toBe(2);
    for (const name of ['DATABASE_URL', 'CAUSEWAY_SECRET', 'PUBLIC_URL'])
      expect(text).toContain(`${name}: is required`);
  });
});
