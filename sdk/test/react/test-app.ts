import { mkdirSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect } from 'vitest';
import { launchChromium } from '../../../service/test/setup/chromium.ts';
import { type Sandbox, useSandbox } from '../flows/sandbox.ts';
import type { PageConfig } from './page.tsx';
import { type PageServer, startPageServer } from './page-server.ts';

export type Visit = {
  page: Page;
  context: BrowserContext;
  userId: string;
  email: string;
  wallet: string;
  config: PageConfig;
};
export type TestApp = {
  sandbox: Sandbox;
  server: PageServer;
  /** Opens the page as a new user whose wallet has gas and 1,000 USDC; fails on any console error. */
  visit(path: string, run: (visit: Visit) => Promise<void>): Promise<void>;
  /**
   * Like `visit`, but as a user without money, shared by tests that change nothing. If `path` is null, opens no page
   * yet.
   */
  look(path: string | null, run: (visit: Visit) => Promise<void>): Promise<void>;
  close(): Promise<void>;
};

/** Starts a page with the components, and a browser. */
export async function startTestApp(): Promise<TestApp> {
  const sandbox = await useSandbox();
  const server = await startPageServer(sandbox);
  const browser = await launchChromium();
  await sandbox.control('POST', '/sandbox/venue', { session: 'regular' });
  const viewer = await newUser(sandbox);
  const backend = { sandbox, server, browser };
  return {
    sandbox,
    server,
    visit: async (path, run) => visit(backend, await newInvestor(sandbox), path, run),
    look: (path, run) => visit(backend, viewer, path, run),
    close: async () => {
      await browser.close();
      await server.close();
    },
  };
}

type User = Omit<Visit, 'page' | 'context'>;
type Backend = { sandbox: Sandbox; server: PageServer; browser: Browser };

async function visit(
  { server, browser }: Backend,
  { userId, email, wallet, config }: User,
  path: string | null,
  run: (visit: Visit) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(30_000);
  await context.addInitScript((pageConfig) => Object.assign(window, { pageConfig }), config);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  try {
    if (path !== null) await page.goto(`${server.url}/${path}`);
    await run({ page, context, userId, email, wallet, config }).catch((error: unknown) => {
      if (errors.length > 0) console.error(`errors of the page: ${errors.join('; ')}`);
      throw error;
    });
    // Ignores errors that tests cause on purpose. The browser also logs error responses and aborted requests.
    expect(errors.filter((text) => !/Failed to load resource|thrown by the test/.test(text))).toEqual([]);
  } finally {
    await context.close();
  }
}

async function newInvestor(sandbox: Sandbox): Promise<User> {
  const user = await newUser(sandbox);
  await sandbox.faucet(user.wallet, undefined, '1000000000000000000');
  await sandbox.faucet(user.wallet, 'usd-coin', '1000000000');
  return user;
}

async function newUser(sandbox: Sandbox): Promise<User> {
  const created = (await sandbox.control('POST', '/sandbox/users', {})) as { id: string; email: string };
  const { id: userId, email } = created;
  const { access_token } = await sandbox.control('POST', '/sandbox/token', { email });
  const { identity_flow_url } = await sandbox.control('GET', '/sandbox');
  const evmKey = generatePrivateKey();
  const { address: wallet } = privateKeyToAccount(evmKey);
  const solana = sandbox.overview.wallets.find(({ protocol }) => protocol === 'solana');
  const config: PageConfig = {
    ...{ token: String(access_token), identityUrl: String(identity_flow_url), evmKey },
    solanaKey: solana?.private_key ?? '',
    solanaUrl: sandbox.overview.chains.find(({ chain }) => chain === 'solana_devnet')?.rpc_url ?? '',
    rpcUrls: Object.fromEntries(sandbox.overview.chains.map(({ chain_id, rpc_url }) => [chain_id, rpc_url])),
  };
  return { userId, email, wallet, config };
}

const screenshots = process.env.SCREENSHOTS;
const SIZES = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } };

/** Saves screenshots in both themes and at both screen sizes if `SCREENSHOTS` is set to a folder. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (screenshots === undefined) return;
  mkdirSync(screenshots, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const)
    for (const [size, viewport] of Object.entries(SIZES)) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      await page.screenshot({ path: `${screenshots}/${name}-${colorScheme}-${size}.png`, fullPage: true });
    }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(SIZES.desktop);
}

/** Makes the wallet decline a method, or only the n-th call to it, as in `eth_sendTransaction#2`. */
export async function decline(page: Page, method: string): Promise<void> {
  await page.evaluate((declined) => Object.assign(window, { decline: declined }), method);
}

/** Sets what the page's wallet does after a method. See `intercept` in `page.tsx`. */
export async function setWallet(page: Page, what: { dropAfter?: string; lockAfter?: string }): Promise<void> {
  await page.evaluate((settings) => Object.assign(window, settings), what);
}

export const row = (page: Page, type: string) => page.locator(`[data-requirement="${type}"]`);
export const expectDone = (page: Page, type: string) =>
  page.locator(`[data-requirement="${type}"][data-status="completed"]`).waitFor();

/** Opens the identity provider's page from a requirement and submits the page. */
export async function verifyIdentity(page: Page, type: string): Promise<void> {
  await row(page, type).getByRole('button').click();
  await submitIdentity(page);
}

/** Submits the identity provider's open, prefilled page, which closes by itself. */
export async function submitIdentity(page: Page): Promise<void> {
  const frame = page.locator('iframe[title="Identity verification"]');
  const send = frame.contentFrame().getByRole('button', { name: 'Send' });
  await send.waitFor();
  const url = await frame.getAttribute('src');
  await send.click();
  // Identifies the page by its URL, because the next requirement's page may open immediately.
  await page.locator(`iframe[src="${url}"]`).waitFor({ state: 'detached' });
}

export async function connect(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Connect wallet' }).first().click();
  await page.getByRole('button', { name: 'Test wallet', exact: true }).click();
}

/** Reviews the order and confirms it with the button called `name`. */
export async function confirmOrder(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Review order' }).click();
  await page.getByText('Your order').waitFor();
  await page.getByRole('button', { name, exact: true }).click();
}
