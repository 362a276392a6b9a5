import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../service/src/platform/http/listening.ts';
import { launchChromium } from '../../service/test/setup/chromium.ts';
import { PACKAGES } from '../../service/test/support/packages.ts';
import { runCauseway } from '../../service/test/support/service.ts';
import type { TestWallet } from '../src/testing/index.ts';
import { startSandbox } from './flows/sandbox.ts';
import { shoot } from './react/test-app.ts';
import { expectThemes } from './themes.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 8 * 60_000;
/**
 * `EXAMPLES=all` tests every example app, as CI does in a separate step. The default is one app, because the others
 * build slowly.
 */
const { EXAMPLES = 'express' } = process.env;
const NAMES = EXAMPLES === 'all' ? ['express', 'fastify', 'vite', 'next'] : EXAMPLES.split(',');
/** The environment without the variables that `npm test` sets, which apply only to this repository. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([key]) => !/^(npm_|node_env$|vite)/i.test(key)),
);

let packed: string;
let dataDir: string;
let sandbox: Awaited<ReturnType<typeof startSandbox>>;
let browser: Browser;
beforeAll(async () => {
  packed = await mkdtemp(join(tmpdir(), 'causeway-sdk-packed-'));
  dataDir = mkdtempSync(join(tmpdir(), 'causeway-examples-'));
  await run(process.execPath, [join(root, 'sdk/build.mjs'), join(packed, 'dist')]);
  await run('npm', ['pack', '--pack-destination', packed], { cwd: join(packed, 'dist'), env });
  sandbox = await startSandbox({ CAUSEWAY_DATA: dataDir });
  browser = await launchChromium();
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await sandbox?.stop();
  for (const folder of [packed, dataDir]) rmSync(folder, { recursive: true, force: true });
});

/**
 * Installs an example from its lock file, outside the repository and with the packed SDK. Keeps the dependencies for
 * the next run.
 */
async function installExample(name: string): Promise<string> {
  const source = join(root, 'examples', name);
  const lock = await readFile(join(source, 'package-lock.json'));
  const group = join(
    PACKAGES,
    `example-${name}-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`,
  );
  const folder = join(group, name);
  await mkdir(group, { recursive: true });
  const tarball = (await readdir(packed)).find((file) => file.endsWith('.tgz')) ?? '';
  await cp(join(packed, tarball), join(group, 'causeway-sdk.tgz'));
  await cp(source, folder, {
    recursive: true,
    filter: (path) => !/node_modules|\/(\.next|dist|assets)$/.test(path),
  });
  const isInstalled = join(group, 'installed');
  if (!existsSync(isInstalled)) {
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    // Not `npm ci`, which fails if a registry lacks optional packages for other platforms.
    await run('npm', ['install', '--no-save', ...flags], { cwd: folder, env, timeout: INSTALL_TIMEOUT_MS });
    await mkdir(isInstalled);
  }
  const sdk = join(folder, 'node_modules/@causeway/sdk');
  await rm(sdk, { recursive: true, force: true });
  await mkdir(sdk, { recursive: true });
  await run('tar', ['xzf', join(group, 'causeway-sdk.tgz'), '--strip-components=1', '-C', sdk]);
  return folder;
}

type App = { url: string; output(): string; stop(): void };

async function startExample(name: string): Promise<App> {
  const folder = await installExample(name);
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const { partner } = (await sandbox.control('GET', '/sandbox')) as { partner: Record<string, string> };
  const settings = {
    ...{ CAUSEWAY_URL: sandbox.url, CAUSEWAY_CLIENT_ID: partner.client_id ?? '', PORT: String(port) },
    ...{ CAUSEWAY_CLIENT_SECRET: partner.client_secret ?? '', COOKIE_SECRET: 'c'.repeat(40), APP_URL: url },
    NEXT_TELEMETRY_DISABLED: '1',
  };
  const allowed = await runCauseway(['partner', 'set-origins', 'sandbox-partner', url], {
    CAUSEWAY_DATA: dataDir,
  });
  expect(allowed.code, allowed.text).toBe(0);
  // A build needs no secrets.
  const built = await run('npm', ['run', 'build'], { cwd: folder, env, timeout: INSTALL_TIMEOUT_MS }).catch(
    ({ stdout, stderr }) => {
      throw new Error(`${stdout}${stderr}`);
    },
  );
  const output = `${built.stdout}${built.stderr}`.replace(/^npm warn .*$/gm, '');
  expect(output).not.toMatch(/\bwarn|prerender error/i);
  const child: ChildProcess = spawn('npm', ['start'], {
    cwd: folder,
    env: { ...env, ...settings },
    detached: true,
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (data) => {
      printed += data;
    });
  const stop = () => void process.kill(-Number(child.pid));
  await expect
    .poll(
      () =>
        fetch(url).then(
          ({ ok }) => ok,
          () => false,
        ),
      { timeout: 60_000 },
    )
    .toBe(true);
  return { url, output: () => printed.replace(/^npm warn .*$/gm, ''), stop };
}

/** Announces the wallet to the page as a browser extension does (EIP-6963). The private key stays in the test. */
async function addExtension(page: Page, { provider, address }: TestWallet): Promise<void> {
  await page.exposeFunction('askWallet', (call: { method: string }) =>
    provider.request(call).then(
      (result) => ({ result }),
      ({ code, message, data }) => ({ error: { code, message, data } }),
    ),
  );
  await page.addInitScript((account) => {
    type Reply = { result?: unknown; error?: { message: string } };
    const { askWallet } = window as unknown as { askWallet(call: object): Promise<Reply> };
    let isConnected = false;
    const request = async (call: { method: string }) => {
      isConnected ||= call.method === 'eth_requestAccounts';
      if (call.method === 'eth_accounts') return isConnected ? [account] : [];
      const { result, error } = await askWallet(call);
      if (error !== undefined) throw Object.assign(new Error(error.message), error);
      return result;
    };
    const info = {
      uuid: crypto.randomUUID(),
      name: 'Fox',
      icon: 'data:image/svg+xml,<svg/>',
      rdns: 'test.fox',
    };
    const listener = { on: () => undefined, removeListener: () => undefined };
    const announce = () =>
      window.dispatchEvent(
        new CustomEvent('eip6963:announceProvider', { detail: { info, provider: { request, ...listener } } }),
      );
    window.addEventListener('eip6963:requestProvider', announce);
    announce();
  }, address.toLowerCase());
}

test.each(NAMES)(
  '%s: a user signs in, invests, sees it settle and signs out, in the colors of every theme',
  async (name) => {
    const app = await startExample(name);
    const context = await browser.newContext({ reducedMotion: 'reduce' });
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    try {
      const user = (await sandbox.control('POST', '/sandbox/users', {})) as {
        email: string;
        password: string;
      };
      await addExtension(page, await sandbox.newWallet());
      if (name === 'next') {
        // The offer page calls `requireUser`, which redirects signed-out visitors to the sign-in page.
        await page.goto(`${app.url}/offers/harbour-quarter`);
        await page.getByLabel('Password').waitFor();
      }
      await page.goto(app.url);
      await page.getByRole('link', { name: /^Sign in/ }).click();
      await page.getByLabel('Email').fill(user.email);
      await page.getByLabel('Password').fill(user.password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.getByRole('link', { name: /^harbour.quarter$/i }).click();
      await page.getByRole('radio', { name: /public/i }).check();
      await page.getByRole('button', { name: 'Connect wallet' }).first().click();
      await page.getByRole('button', { name: 'Fox' }).click();
      await page.getByText('Balance 1,000 USDC').waitFor();
      await page.getByLabel('Amount').fill('20');
      await expectThemes(page);
      await shoot(page, `example-${name}`);
      await page.getByRole('button', { name: 'Review order' }).click();
      await page.getByRole('button', { name: 'Invest', exact: true }).click();
      await page.getByText('Your investment is complete.').waitFor({ timeout: 90_000 });
      const cookies = await context.cookies(app.url);
      const session = cookies.find((cookie) => cookie.name === 'causeway_session');
      expect([session?.httpOnly, session?.value]).toEqual([true, expect.stringMatching(/^[\w-]{43}$/)]);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('link', { name: /^Sign in/ }).waitFor();
      expect(errors).toEqual([]);
      expect(app.output()).not.toMatch(/error/i);
    } catch (error) {
      console.error(app.output(), errors);
      throw error;
    } finally {
      await context.close();
      app.stop();
    }
  },
  900_000,
);
