import { mkdirSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect } from 'vitest';
import { launchChromium } from '../../../service/test/setup/chromium.ts';
import { type Sandbox, startSandbox } from '../flows/sandbox.ts';
import type { PageConfig } from './page.tsx';
import { type PageServer, startPageServer } from './page-server.ts';

export type Visit = { page: Page; context: BrowserContext; email: string; wallet: string };
export type World = {
  sandbox: Sandbox;
  server: PageServer;
  /** Opens the page for a fresh user with a wallet that has gas and 1,000 USDC; no error may reach the console. */
  visit(path: string, run: (visit: Visit) => Promise<void>): Promise<void>;
  close(): Promise<void>;
};

/** A whole sandbox, the page with the components, and a browser. */
export async function openWorld(): Promise<World> {
  const sandbox = await startSandbox({ RATE_LIMIT_OAUTH_TOKEN: '1000' });
  const server = await startPageServer(sandbox.url);
  const browser = await launchChromium();
  await sandbox.control('POST', '/sandbox/venue', { session: 'regular' });
  return {
    sandbox,
    server,
    visit: (path, run) => visit({ sandbox, server, browser }, path, run),
    close: async () => {
      await browser.close();
      await server.close();
      await sandbox.stop();
    },
  };
}

type Parts = { sandbox: Sandbox; server: PageServer; browser: Browser };

async function visit(parts: Parts, path: string, run: (visit: Visit) => Promise<void>): Promise<void> {
  const { sandbox, server, browser } = parts;
  const { email, wallet, config } = await newInvestor(sandbox);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(30_000);
  await context.addInitScript((given) => Object.assign(window, { pageConfig: given }), config);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  try {
    await page.goto(`${server.url}/${path}`);
    await run({ page, context, email, wallet });
    // Refusals of the service and requests that a test cuts off are told by the browser itself.
    expect(errors.filter((text) => !/Failed to load resource/.test(text))).toEqual([]);
  } finally {
    await context.close();
  }
}

async function newInvestor(sandbox: Sandbox) {
  const { email } = (await sandbox.control('POST', '/sandbox/users', {})) as { email: string };
  const { access_token } = await sandbox.control('POST', '/sandbox/token', { email });
  const { identity_flow_url } = await sandbox.control('GET', '/sandbox');
  const evmKey = generatePrivateKey();
  const { address: wallet } = privateKeyToAccount(evmKey);
  await sandbox.faucet(wallet, undefined, '1000000000000000000');
  await sandbox.faucet(wallet, 'usd-coin', '1000000000');
  const solana = sandbox.overview.wallets.find(({ protocol }) => protocol === 'solana');
  const config: PageConfig = {
    ...{ token: String(access_token), identityUrl: String(identity_flow_url), evmKey },
    solanaKey: solana?.private_key ?? '',
    rpcUrls: Object.fromEntries(sandbox.overview.chains.map(({ chain_id, rpc_url }) => [chain_id, rpc_url])),
  };
  return { email, wallet, config };
}

const shots = process.env.SCREENSHOTS;
const SIZES = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } };

/** In both themes and sizes, for somebody to look at. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (shots === undefined) return;
  mkdirSync(shots, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const)
    for (const [size, viewport] of Object.entries(SIZES)) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      await page.screenshot({ path: `${shots}/${name}-${colorScheme}-${size}.png`, fullPage: true });
    }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(SIZES.desktop);
}

/** The wallet says no to a method, or to its n-th call as in `eth_sendTransaction#2`. */
export async function refuse(page: Page, method: string): Promise<void> {
  await page.evaluate((given) => Object.assign(window, { refuse: given }), method);
}

export const row = (page: Page, type: string) => page.locator(`[data-requirement="${type}"]`);
export const done = (page: Page, type: string) =>
  page.locator(`[data-requirement="${type}"][data-status="completed"]`).waitFor();

/** Sends what the provider's page is filled with, and closes it. */
export async function passIdentity(page: Page, type: string): Promise<void> {
  await row(page, type).getByRole('button').click();
  const flow = page.frameLocator('iframe[title="Identity verification"]');
  await flow.getByRole('button', { name: 'Send' }).click();
  await flow.getByRole('heading', { name: 'Done' }).waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
}

export async function connect(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Connect a wallet' }).first().click();
  await page.getByRole('button', { name: 'Test wallet', exact: true }).click();
}
