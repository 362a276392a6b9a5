import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Fastify from 'fastify';
import { createElement, type FunctionComponent, isValidElement } from 'react';
import { renderToString } from 'react-dom/server';
import type { Hex } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { freePort } from '../../service/src/platform/http/listening.ts';
import { createCauseway } from '../src/index.ts';
import { CausewayProvider } from '../src/react/index.ts';
import { createSignIn, type Session } from '../src/server/index.ts';
import { createTestWallet } from '../src/testing/index.ts';
import { newBrowser } from './browser.ts';
import { addImports, documentedExports, type Example, entryPoints, examplesIn } from './examples.ts';
import { type Sandbox, useSandbox } from './sandbox.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
/** The guides with React code, which this test renders. The service's `guides.slow.test.ts` runs the other guides. */
const GUIDES = ['react', 'wallets', 'theming'];
/** Globals that examples may use. */
const AMBIENT = `
import type { Causeway } from '@causeway/sdk';
import type { EvmWallet } from '@causeway/sdk/flows';
declare global {
  const causeway: Causeway;
  const wallet: EvmWallet;
}
`;
/** Stands in for the module that the quickstart imports from the reader's app. */
const APP = `
import { createCauseway } from '@causeway/sdk';
import { createTestWallet } from '@causeway/sdk/testing';
const { CAUSEWAY_URL = '', TOKEN = '', WALLET_KEY, RPC_URL = '' } = process.env;
export const causeway = createCauseway({ baseUrl: CAUSEWAY_URL, accessToken: TOKEN });
export const wallet = createTestWallet({ privateKey: WALLET_KEY as \`0x\${string}\`, rpcUrls: { 11155111: RPC_URL } });
`;

let sandbox: Sandbox;
let session: Session = {
  ...{ id: 'i', accessToken: '', refreshToken: '', scope: '', user: undefined },
  ...{ expiresAt: Date.now() + 900_000, refreshedAt: Date.now() },
};
let folder: string;
const examples = new Map<string, Example>();
const undocumented: string[] = [];
const quickstart = new Map<string, string>();

beforeAll(async () => {
  [sandbox, folder] = await Promise.all([useSandbox(), collectExamples()]);
  const { email } = await sandbox.newUser();
  const { access_token, refresh_token } = await sandbox.tokens(email);
  session = { ...session, accessToken: access_token, refreshToken: refresh_token };
  for (const level_name of ['Sorting_KYC_Level', 'BasicKYCLevel'])
    await sandbox.control('/sandbox/identity/reviews', { email, level_name, answer: 'GREEN' });
  await sandbox.control('/sandbox/venue', { session: 'regular' });
  const { client_id, client_secret } = sandbox.overview.partner;
  Object.assign(process.env, {
    ...{ CAUSEWAY_URL: sandbox.url, CAUSEWAY_CLIENT_ID: client_id, CAUSEWAY_CLIENT_SECRET: client_secret },
    ...{ COOKIE_SECRET: 'c'.repeat(40), TOKEN: access_token, RPC_URL: sandbox.overview.chains[0]?.rpc_url },
    WALLET_KEY: sandbox.overview.wallets[0]?.private_key,
  });
}, 180_000);
const { ...environment } = process.env;
afterAll(async () => {
  process.env = environment;
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});
afterEach(() => vi.restoreAllMocks());

/** Writes every example to its own file, inside the repository so that imports resolve. */
async function collectExamples(): Promise<string> {
  await mkdir(join(root, 'artifacts'), { recursive: true });
  const folder = await mkdtemp(join(root, 'artifacts/sdk-examples-'));
  const readme = examplesIn(await readFile(join(root, 'sdk/README.md'), 'utf8'), 'README');
  for (const { code } of readme) {
    const name = /^\/\/ ([\w-]+\.ts)$/m.exec(code.split('\n', 1)[0] ?? '')?.[1];
    if (name !== undefined) quickstart.set(name, code);
  }
  const all = readme.filter(({ code }) => ![...quickstart.values()].includes(code));
  for (const guide of GUIDES)
    all.push(...examplesIn(await readFile(join(root, `docs/${guide}.md`), 'utf8'), guide));
  const exported = new Map(['useState', 'useEffect', 'useMemo', 'StrictMode'].map((name) => [name, 'react']));
  for (const [entry, file] of await entryPoints())
    for (const [name, found] of await documentedExports(file)) {
      if (found.length === 0) undocumented.push(`${entry}: ${name}`);
      if (!exported.has(name)) exported.set(name, entry);
      all.push(...found);
    }
  for (const [index, given] of all.entries()) {
    const example = addImports(given, exported);
    const name = `${index}-${example.of}.${example.language}`;
    examples.set(name, example);
    await writeFile(join(folder, name), `${example.code}\nexport {};\n`);
  }
  for (const [name, code] of [...quickstart, ['app.ts', APP] as const])
    await writeFile(join(folder, name), code);
  await writeFile(join(folder, 'ambient.d.ts'), AMBIENT);
  await writeFile(join(folder, 'styles.d.ts'), "declare module '*.css';\n");
  const compilerOptions = {
    ...{ noUnusedLocals: false, noUnusedParameters: false, incremental: false, tsBuildInfoFile: null },
    types: ['node', 'react'],
  };
  const tsconfig = { extends: '../../sdk/tsconfig.json', compilerOptions, include: ['*'], exclude: [] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
  return folder;
}

describe('the documentation', () => {
  test('has an example for every exported value', () => {
    expect(undocumented).toEqual([]);
    expect(examples.size).toBeGreaterThan(20);
  });

  test('has examples that compile', async () => {
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const output = await run(process.execPath, [tsc, '-p', folder]).then(
      () => '',
      ({ stdout }) => String(stdout).replaceAll(/^.*artifacts\/sdk-examples-\w+\//gm, ''),
    );
    expect(output).toBe('');
  });

  test('has guides whose components render', async () => {
    const causeway = createCauseway({ baseUrl: sandbox.url, accessToken: process.env.TOKEN ?? '' });
    Object.assign(globalThis, { causeway, wallet: undefined });
    const rendered = new Map<string, string>();
    for (const [name, { of, language }] of examples) {
      if (language !== 'tsx' || !GUIDES.includes(of)) continue;
      const module = (await import(/* @vite-ignore */ join(folder, name))) as Record<string, unknown>;
      for (const [exported, value] of Object.entries(module)) {
        if (!isValidElement(value) && !/^[A-Z]/.test(exported)) continue;
        const children = isValidElement(value) ? value : createElement(value as FunctionComponent);
        const html = renderToString(createElement(CausewayProvider, { client: causeway, children }));
        rendered.set(`${name}: ${exported}`, html);
      }
    }
    expect(new Set([...rendered.keys()].map((name) => /-(\w+)\./.exec(name)?.[1]))).toEqual(new Set(GUIDES));
    expect(rendered.size).toBeGreaterThan(8);
    expect([...rendered].filter(([, html]) => html === '')).toEqual([]);
  });

  test('has examples that run without errors', async () => {
    const errors = ['log', 'debug', 'error'].map((method) =>
      vi.spyOn(console, method as 'log').mockImplementation(() => undefined),
    )[2];
    const wallet = createTestWallet({
      privateKey: sandbox.overview.wallets[1]?.private_key as Hex,
      rpcUrls: { 11155111: sandbox.overview.chains[0]?.rpc_url ?? '' },
    });
    const causeway = createCauseway({ baseUrl: sandbox.url, accessToken: process.env.TOKEN ?? '' });
    const tokenized = await causeway.offers.get('apple-tokenized');
    const usdc = sandbox.overview.chains[0]?.tokens.find(({ asset_id }) => asset_id === 'usd-coin')?.address;
    await sandbox.approve(1, usdc as Hex, tokenized.contracts[0]?.address as Hex, 10n ** 12n);
    Object.assign(globalThis, { causeway, wallet });
    const available: Record<string, unknown> = {
      ...{ causeway, wallet, session, signIn: newSignIn(), request: new Request('http://localhost:3000/') },
      ...{ app: Fastify(), clientSecret: 'secret', cookieSecret: process.env.COOKIE_SECRET },
      ...{ pool: { query: async () => ({ rows: [] }) }, redis: { sendCommand: async () => null } },
      get signal() {
        return AbortSignal.timeout(1_500);
      },
    };
    const failed: string[] = [];
    const called: string[] = [];
    const skipped: string[] = [];
    for (const [name, { isRun, code }] of examples) {
      if (!isRun) continue;
      try {
        const file = join(folder, `run-${name}`);
        await writeFile(file, code.replaceAll('http://127.0.0.1:8080', sandbox.url));
        const module = (await import(/* @vite-ignore */ file)) as Record<string, unknown>;
        for (const value of Object.values(module)) {
          if (typeof value !== 'function') continue;
          const parameters = parametersOf(value);
          const isCallable = parameters.every((parameter) => parameter in available);
          (isCallable ? called : skipped).push(`${name}: ${value.name}(${parameters})`);
          if (!isCallable) continue;
          await (value as (...args: unknown[]) => unknown)(...parameters.map((name) => available[name]));
        }
      } catch (error) {
        failed.push(`${name}: ${error instanceof Error ? error.stack : error}`);
      }
    }
    expect(failed).toEqual([]);
    expect(errors?.mock.calls).toEqual([]);
    // This test must be able to supply an argument for every parameter of an example function.
    expect(skipped).toEqual([]);
    expect(called.length).toBeGreaterThan(5);
  }, 120_000);
});

function newSignIn() {
  const { CAUSEWAY_CLIENT_SECRET = '', COOKIE_SECRET = '' } = process.env;
  return createSignIn({
    ...{ baseUrl: sandbox.url, clientId: 'sandbox-partner', clientSecret: CAUSEWAY_CLIENT_SECRET },
    ...{ redirectUri: 'http://localhost:3000/callback', cookieSecret: COOKIE_SECRET },
  });
}

function parametersOf(fn: unknown): string[] {
  const list = /\(([^)]*)\)/.exec(String(fn))?.[1] ?? '';
  return list.split(',').flatMap((parameter) => parameter.trim() || []);
}

describe('the quickstart', () => {
  const node = (name: string) => [process.execPath, ['--import', 'tsx', join(folder, name)]] as const;
  const captureLog = (): string[] => {
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((...values) => void lines.push(values.join(' ')));
    return lines;
  };

  test('runs its server on a port that the demo does not use', async () => {
    const ports = [...(quickstart.get('server.ts') ?? '').matchAll(/localhost:(\d+)|PORT = '(\d+)'/g)];
    expect(new Set(ports.map(([, inUrl, byDefault]) => inUrl ?? byDefault))).toEqual(new Set(['4000']));
    const demo = await readFile(join(root, 'sandbox/src/start-demo.ts'), 'utf8');
    expect(/USUAL_PORT = (\d+)/.exec(demo)?.[1]).toBe('3000');
    expect(sandbox.overview.partner.redirect_uris).toContain('http://localhost:4000/callback');
  });

  test('step 1 lists the offers of the partner', async () => {
    const { stdout } = await run(...node('offers.ts'), { cwd: root });
    expect(stdout).toContain('harbour-quarter platform::token_sale');
  });

  test('steps 2 and 3 sign a user in and call the API from the page', async () => {
    const port = await freePort();
    const [command, args] = node('server.ts');
    const server = spawn(command, args, { cwd: root, env: { ...process.env, PORT: String(port) } });
    await once(server.stdout, 'data');
    const app = `http://127.0.0.1:${port}`;
    const browser = newBrowser();
    try {
      expect(await (await browser.fetch(`${app}/`)).text()).toContain('Sign in');
      const start = await browser.fetch(`${app}/causeway/sign-in?return_to=/`);
      const user = sandbox.overview.users[0] ?? { email: '', password: '' };
      const back = await browser.authorize(start.headers.get('location') ?? '', user, 'allow');
      const landed = await browser.fetch(`${app}/callback${back.search}`);
      expect(landed.headers.get('location')).toBe('/');
      expect(await (await browser.fetch(`${app}/`)).text()).toContain(`${user.email} has 0 participations`);

      const network = globalThis.fetch;
      vi.stubGlobal('fetch', (input: string | URL | Request, init?: RequestInit) =>
        typeof input === 'string' && input.startsWith('/')
          ? browser.fetch(app + input, init)
          : network(input, init),
      );
      const lines = captureLog();
      const page = quickstart.get('page.ts')?.replaceAll('http://127.0.0.1:8080', sandbox.url) ?? '';
      await writeFile(join(folder, 'run-page.ts'), page);
      await import(/* @vite-ignore */ join(folder, 'run-page.ts'));
      expect(lines.length).toBe(7);
      expect(lines).toContain('jurisdiction action_needed');
    } finally {
      vi.unstubAllGlobals();
      server.kill();
    }
  });

  test('step 4 invests', async () => {
    const lines = captureLog();
    await import(/* @vite-ignore */ join(folder, 'invest.ts'));
    expect(lines).toContain('creating');
    expect(lines.at(-1)).toMatch(/^(prepared|pending)$/);
  });
});
