import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../../service/test/support/service.ts';
import { listenOnFirst } from '../server/listen.ts';
import { forwardControl } from '../server/sandbox.ts';
import type { DemoSettings } from '../server/settings.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'causeway-demo-start-'));
const env = { CAUSEWAY_DATA: dataDir, CAUSEWAY_DEMO: 'on' };
let service: Service;
beforeAll(async () => {
  service = await startService(env);
}, 240_000);
afterAll(async () => {
  await service.discard();
  rmSync(dataDir, { recursive: true, force: true });
});

type Overview = { demo_url: string | null; partner: { client_secret: string; redirect_uris: string[] } };
const overview = async () => (await (await fetch(`${service.url}/sandbox`)).json()) as Overview;
const demoUrl = async () => String((await overview()).demo_url);
const get = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { headers, signal: AbortSignal.timeout(60_000) });
const isStopped = (url: string) =>
  get(`${url}/config.json`).then(
    () => false,
    () => true,
  );

/** Returns the ids of the parent's child processes that have `name` in their command line. */
function childrenNamed(name: string, parent: number): string[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).trim().split('\n');
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, ppid, ...args]) => Number(ppid) === parent && args.join(' ').includes(name))
    .map(([pid]) => String(pid));
}

test('the sandbox starts the demo, prints its URL and registers its redirect URI', async () => {
  const { demo_url, partner } = await overview();
  expect(service.output()).toContain(`Demo app   ${demo_url}`);
  expect(partner.redirect_uris).toContain(`${demo_url}/callback`);
  const response = await get(`${demo_url}/`);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
});

test('the page has a strict content security policy, and its assets are cached as immutable', async () => {
  const url = await demoUrl();
  const page = await get(`${url}/offers`);
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toMatch(/unsafe|\*/);
  const [script] = /\/assets\/[\w-]+\.js/.exec(await page.text()) ?? [];
  const asset = await get(`${url}${script}`, { 'accept-encoding': 'gzip' });
  expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect((await get(`${url}/assets/none.js`)).status).toBe(404);
  expect((await get(`${url}/assets/..%2f..%2fpackage.json`)).status).toBe(404);
});

test("the page's configuration contains no secret", async () => {
  const { demo_url, partner } = await overview();
  const config = await (await get(`${demo_url}/config.json`)).text();
  expect(JSON.parse(config)).toMatchObject({ base_url: service.url, is_sandbox: true });
  expect(config).not.toContain(partner.client_secret);
  expect(config).not.toContain('private_key');
});

test('only same-origin requests reach the sandbox controls through the demo', async () => {
  const url = await demoUrl();
  const setSession = (headers: Record<string, string>) =>
    fetch(`${url}/sandbox/venue`, { method: 'POST', headers, body: JSON.stringify({ session: 'regular' }) });
  expect((await setSession({})).status).toBe(403);
  expect((await setSession({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect((await setSession({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  const token = await fetch(`${url}/sandbox/token`, {
    method: 'POST',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: '{}',
  });
  expect(token.status).toBe(404);
});

test('the demo moves the clock only for a signed-in visitor, and by 30 days at most', async () => {
  const move = (body: unknown, email?: string) =>
    forwardControl(
      { baseUrl: service.url } as DemoSettings,
      '/sandbox/clock',
      new Request('http://demo.test/sandbox/clock', { method: 'POST', body: JSON.stringify(body) }),
      email,
    );
  const anonymous = await fetch(`${await demoUrl()}/sandbox/clock`, {
    method: 'POST',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ advance_seconds: 60 }),
  });
  expect(anonymous.status).toBe(401);
  const refused = [
    ...[0, -60, 1.5, 2_592_001, 1e10, '60'].map((seconds) => ({ advance_seconds: seconds })),
    ...[{ set_to: '2030-01-01T00:00:00Z' }, { advance_seconds: 60, set_to: null }, {}, null, []],
  ];
  for (const body of refused)
    expect(await (await move(body, 'a@b.example'))?.json()).toMatchObject({
      message: expect.stringMatching(/^The demo accepts only advance_seconds/),
    });
  // These values pass the demo's check. The service rejects them, because its clock follows real time.
  for (const advance_seconds of [1, 2_592_000])
    expect(await (await move({ advance_seconds }, 'a@b.example'))?.json()).toMatchObject({
      errors: { clock: [expect.stringContaining('CAUSEWAY_CLOCK=test')] },
    });
});

test('visitors together move the clock of the demo by 30 days at most', async () => {
  let now = Date.now();
  const clock = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    now += JSON.parse(text).advance_seconds * 1000;
    response.end(JSON.stringify({ object: 'clock', now: new Date(now).toISOString() }));
  });
  await new Promise<void>((resolve) => clock.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(clock.address() as AddressInfo).port}`;
  const move = (days: number) => {
    const body = JSON.stringify({ advance_seconds: days * 86_400 });
    const request = new Request('http://demo.test/sandbox/clock', { method: 'POST', body });
    return forwardControl({ baseUrl } as DemoSettings, '/sandbox/clock', request, 'a@b.example');
  };
  const replies = await Promise.all([10, 10, 10, 10, 1].map(move));
  expect(replies.map((reply) => reply?.status)).toEqual([200, 200, 200, 422, 422]);
  clock.close();
});

test("a visitor sees the partner's offers before signing in, and no user data", async () => {
  const { data } = (await (await get(`${await demoUrl()}/offers.json`)).json()) as {
    data: { slug: string }[];
  };
  expect(data.map(({ slug }) => slug)).toContain('harbour-quarter');
  expect(
    await (await get(`${await demoUrl()}/causeway/session`, { 'sec-fetch-site': 'same-origin' })).json(),
  ).toEqual({ signed_in: false });
});

test('the service survives when the demo is killed, and restarts it at the same address', async () => {
  const url = await demoUrl();
  const [pid] = childrenNamed('demo.mjs', Number(service.child.pid));
  process.kill(Number(pid), 'SIGKILL');
  await expect.poll(() => service.output()).toContain('Restarting in');
  expect((await get(`${service.url}/health`)).status).toBe(200);
  await expect
    .poll(() =>
      get(`${url}/config.json`).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
});

test('the demo keeps its address across restarts, and stops with the service even if that is killed', async () => {
  const before = await demoUrl();
  expect(await service.stop()).toBe(0);
  expect(await isStopped(before)).toBe(true);
  service = await startService({ ...env, PORT: new URL(service.url).port });
  expect(await demoUrl()).toBe(before);
  process.kill(Number(service.child.pid), 'SIGKILL');
  await expect.poll(() => isStopped(before)).toBe(true);
  // Kills the remaining processes of the service's process group.
  await service.stop('SIGKILL').catch(() => undefined);
  service = await startService({ ...env, CAUSEWAY_DEMO: 'off' });
  expect((await overview()).demo_url).toBeNull();
});

test('the demo skips a port that is taken on either localhost address', async () => {
  const other: Server = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  const listening = await listenOnFirst('localhost', [port, 0], (_request, response) => response.end('here'));
  expect(listening.port).not.toBe(port);
  expect(await (await get(`http://localhost:${listening.port}/`)).text()).toBe('here');
  await listening.close();
  await expect(listenOnFirst('localhost', [port], () => undefined)).rejects.toThrow(/no free port among/);
  other.close();
  await sleep(0);
});
