import { mkdirSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from '../../../service/test/setup/chromium.ts';
import { type Sandbox, startSandbox } from '../flows/sandbox.ts';
import type { PageConfig } from './page.tsx';
import { type PageServer, startPageServer } from './page-server.ts';

let sandbox: Sandbox;
let server: PageServer;
let browser: Browser;

beforeAll(async () => {
  sandbox = await startSandbox({ RATE_LIMIT_OAUTH_TOKEN: '1000' });
  server = await startPageServer(sandbox.url);
  browser = await launchChromium();
  await sandbox.control('POST', '/sandbox/venue', { session: 'regular' });
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await server?.close();
  await sandbox?.stop();
});

type Visit = { page: Page; context: BrowserContext; email: string; wallet: string; errors: string[] };

/** A fresh user with a wallet that has gas and 1,000 of each test dollar. */
async function visit(path: string, run: (visit: Visit) => Promise<void>): Promise<void> {
  const { email } = (await sandbox.control('POST', '/sandbox/users', {})) as { email: string };
  const { access_token: token } = (await sandbox.control('POST', '/sandbox/token', { email })) as {
    access_token: string;
  };
  const evmKey = generatePrivateKey();
  const { address } = privateKeyToAccount(evmKey);
  await sandbox.faucet(address, undefined, '1000000000000000000');
  await sandbox.faucet(address, 'usd-coin', '1000000000');
  const overview = (await sandbox.control('GET', '/sandbox')) as unknown as {
    identity_flow_url: string;
  };
  const solana = sandbox.overview.wallets.find(({ protocol }) => protocol === 'solana');
  const config: PageConfig = {
    token,
    evmKey,
    solanaKey: solana?.private_key ?? '',
    rpcUrls: Object.fromEntries(sandbox.overview.chains.map(({ chain_id, rpc_url }) => [chain_id, rpc_url])),
    identityUrl: overview.identity_flow_url,
  };
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(20_000);
  await context.addInitScript((given) => Object.assign(window, { pageConfig: given }), config);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  try {
    await page.goto(`${server.url}/${path}`);
    await run({ page, context, email, wallet: address, errors });
    expect(errors.filter((text) => !/status of 4\d\d|net::ERR_FAILED/.test(text))).toEqual([]);
  } finally {
    await context.close();
  }
}

const shots = process.env.SCREENSHOTS;
/** In both themes and sizes, when somebody wants to look. */
async function shoot(page: Page, name: string): Promise<void> {
  if (shots === undefined) return;
  mkdirSync(shots, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const)
    for (const [size, viewport] of Object.entries({
      phone: { width: 390, height: 844 },
      desktop: { width: 1280, height: 800 },
    })) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      await page.screenshot({ path: `${shots}/${name}-${colorScheme}-${size}.png`, fullPage: true });
    }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 800 });
}

/** What has moved without the user's doing, as browsers count it. */
const layoutShift = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((done) => {
        new PerformanceObserver((list) =>
          done(
            list
              .getEntries()
              .reduce((sum, one) => sum + (one as PerformanceEntry & { value: number }).value, 0),
          ),
        ).observe({ type: 'layout-shift', buffered: true });
        requestAnimationFrame(() => setTimeout(() => done(0), 100));
      }),
  );

const row = (page: Page, type: string) => page.locator(`[data-requirement="${type}"]`);
const done = (page: Page, type: string) =>
  page.locator(`[data-requirement="${type}"][data-status="completed"]`).waitFor();

async function passIdentity(page: Page, type: string): Promise<void> {
  await row(page, type).getByRole('button').click();
  const flow = page.frameLocator('iframe[title="Identity verification"]');
  await flow.getByRole('button', { name: 'Send' }).click();
  await flow.getByRole('heading', { name: 'Done' }).waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  await done(page, type);
}

async function connect(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Connect a wallet' }).first().click();
  await page.getByRole('button', { name: 'Test wallet', exact: true }).click();
}

describe('the offers', () => {
  test('lead from the grid to the offer, without anything moving', async () => {
    await visit('', async ({ page }) => {
      await page.getByRole('link', { name: 'Harbour Quarter' }).waitFor();
      await expect.poll(() => page.getByRole('article').count()).toBeGreaterThan(5);
      await page.getByRole('link', { name: 'Apple (tokenized)' }).waitFor();
      expect(await layoutShift(page)).toBeLessThan(0.01);
      await shoot(page, 'offers');
      await page.getByRole('link', { name: 'Harbour Quarter' }).click();
      await page.getByRole('heading', { level: 1, name: 'Harbour Quarter' }).waitFor();
      await page.getByText('Warehouses one to four opened').waitFor();
      await page.getByText('Read the sale agreement').waitFor();
      await page.getByText('What do I own?').click();
      await page.getByText('A share of the company that holds the land').waitFor();
      await shoot(page, 'offer');
    });
  });

  test('keep within a phone of 320 pixels', async () => {
    await visit('?view=offer&slug=harbour-quarter&option=public', async ({ page }) => {
      await page.setViewportSize({ width: 320, height: 640 });
      await page.getByRole('button', { name: 'Invest' }).waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    });
  });
});

describe('the checklist', () => {
  test('walks a fresh user through identity, documents and wallets to the end', async () => {
    const place = '?view=offer&slug=harbour-quarter&option=accredited&what=checklist';
    await visit(place, async ({ page, email }) => {
      await page.getByText('0 of 7 done').waitFor();
      await shoot(page, 'checklist-start');
      await passIdentity(page, 'identity_verification');
      await done(page, 'jurisdiction');
      await passIdentity(page, 'kyc_approved');
      await passIdentity(page, 'accreditation');
      await row(page, 'external_wallet').getByRole('button', { name: 'Connect a wallet' }).click();
      await shoot(page, 'wallets-dialog');
      await page.getByRole('button', { name: 'Test wallet', exact: true }).click();
      await done(page, 'external_wallet');
      await done(page, 'whitelisted_wallet');
      await row(page, 'document').getByRole('button', { name: 'Fill in the form' }).click();
      const name = page.getByLabel('Full legal name');
      expect(await name.inputValue()).not.toBe('');
      await expect.poll(() => name.evaluate((input) => input === document.activeElement)).toBe(true);
      await shoot(page, 'document-form');
      await page.getByRole('button', { name: 'Send me the form' }).click();
      await page.getByText('We sent the link by mail.').waitFor();
      await shoot(page, 'checklist-waiting');
      const act = (action: string) =>
        sandbox.control('POST', '/sandbox/documents/actions', {
          ...{ email, action },
          document_type: 'tax_certification',
        });
      await act('decline');
      await page.getByText('You declined the form.').waitFor();
      await row(page, 'document').getByRole('button', { name: 'Start a new form' }).click();
      await page.getByRole('button', { name: 'Send me the form' }).click();
      await page.getByText('We sent the link by mail.').waitFor();
      await act('sign');
      await page.getByText('All done. You can invest now.').waitFor();
      await shoot(page, 'checklist-done');
    });
  }, 120_000);

  test('says so when the identity is refused for good, and when the country is not allowed', async () => {
    const place = '?view=offer&slug=harbour-quarter&option=accredited&what=checklist';
    await visit(place, async ({ page, email }) => {
      await page.getByText('0 of 7 done').waitFor();
      const review = (level_name: string, more: object) =>
        sandbox.control('POST', '/sandbox/identity/reviews', { email, level_name, ...more });
      const address = { street: 's', city: 'c', state: '', postal_code: '1', country: 'CU' };
      const person = { first_name: 'A', last_name: 'B', date_of_birth: '1990-01-01', tax_id: '1', address };
      await review('Sorting_KYC_Level', { answer: 'GREEN', pii: person });
      await page.reload();
      await row(page, 'jurisdiction').getByText('where this offer is not available').waitFor();
      await review('BasicKYCLevel', { answer: 'RED', reject_type: 'FINAL' });
      await page.reload();
      await row(page, 'kyc_approved').getByText('this decision is final').waitFor();
      await shoot(page, 'checklist-rejected');
    });
  });

  test('binds a Solana wallet, and lets a user who said no sign again', async () => {
    await visit('?view=offer&slug=harbour-quarter&option=any-wallet&what=checklist', async ({ page }) => {
      await page.getByText('0 of 2 done').waitFor();
      await page.evaluate(() => Object.assign(window, { refuse: 'personal_sign' }));
      await row(page, 'external_wallet').first().getByRole('button', { name: 'Connect a wallet' }).click();
      await page.getByRole('button', { name: 'Test wallet', exact: true }).click();
      await page.getByText('You turned the request down in your wallet').waitFor();
      await shoot(page, 'wallet-refused');
      await page.evaluate(() => Object.assign(window, { refuse: '' }));
      await page.getByRole('button', { name: 'Sign again' }).click();
      await page.getByText('1 of 2 done').waitFor();
      await row(page, 'external_wallet').last().getByRole('button', { name: 'Connect a wallet' }).click();
      await page.getByRole('button', { name: 'Solana test wallet' }).click();
      await page.getByText('All done. You can invest now.').waitFor();
    });
  });
});

describe('the token sale', () => {
  test('takes an exact amount to a completed participation', async () => {
    await visit('?view=offer&slug=harbour-quarter&option=public', async ({ page }) => {
      await connect(page);
      await page.getByText('Balance 1,000 USDC').waitFor();
      const amount = page.getByLabel('Amount');
      await amount.fill('9.99');
      await page.getByText('The minimum is 10 USDC.').waitFor();
      await amount.fill('1000.000001');
      await page.getByText('Your wallet holds 1,000 USDC.').waitFor();
      await shoot(page, 'sale-problem');
      await page.getByRole('button', { name: 'Max' }).click();
      expect(await amount.inputValue()).toBe('1000');
      await amount.fill('125.5');
      await page.getByText('100.4 HBQ').waitFor();
      await shoot(page, 'sale-ready');
      await page.getByRole('button', { name: 'Invest', exact: true }).click();
      await page.getByText('125.5 USDC in Harbour Quarter').waitFor();
      await page.getByText('Your investment is complete.').waitFor({ timeout: 60_000 });
      await shoot(page, 'sale-done');
      await page.goto(`${server.url}/?view=participations`);
      await page.getByText('125.5').waitFor();
      await shoot(page, 'participations');
    });
  }, 120_000);

  test('goes on after a reload in the middle, with the approval that was given', async () => {
    await visit('?view=offer&slug=harbour-quarter&option=public', async ({ page }) => {
      await connect(page);
      await page.getByLabel('Amount').fill('50');
      await page.route('**/v1/participations', (route) =>
        route.request().method() === 'POST' ? route.abort() : route.continue(),
      );
      await page.getByRole('button', { name: 'Invest', exact: true }).click();
      await page.getByText('Recording your investment').waitFor();
      await page.unroute('**/v1/participations');
      await page.reload();
      await page.getByText('You have an unfinished purchase').waitFor();
      await shoot(page, 'sale-unfinished');
      const sent: string[] = [];
      page.on('request', (one) => {
        if (one.postData()?.includes('eth_sendRawTransaction')) sent.push(one.url());
      });
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByText('50 USDC in Harbour Quarter').waitFor();
      expect(sent).toEqual([]);
      await page.reload();
      await page.getByLabel('Amount').waitFor();
      expect(await page.getByText('You have an unfinished purchase').count()).toBe(0);
    });
  }, 120_000);

  test('says what to do when the wallet says no, and tries again', async () => {
    await visit('?view=offer&slug=harbour-quarter&option=public', async ({ page }) => {
      await connect(page);
      await page.getByLabel('Amount').fill('20');
      await page.evaluate(() => Object.assign(window, { refuse: 'eth_sendTransaction' }));
      await page.getByRole('button', { name: 'Invest', exact: true }).click();
      await page.getByText('You turned the request down in your wallet').waitFor();
      await shoot(page, 'sale-refused');
      await page.evaluate(() => Object.assign(window, { refuse: '' }));
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('20 USDC in Harbour Quarter').waitFor();
    });
  }, 120_000);

  test('is closed for an offer that has ended or not begun', async () => {
    await visit('?view=offer&slug=old-brewery', ({ page }) =>
      page.locator('.cw-checkout').getByText('This offer has ended').waitFor(),
    );
    await visit('?view=offer&slug=tidal-array', async ({ page }) => {
      await page.getByText('This offer is not open yet').waitFor();
      await shoot(page, 'offer-upcoming');
    });
  });
});

describe('the fund', () => {
  test('verifies, allows the wallet, previews and swaps', async () => {
    await visit('?view=offer&slug=treasury-fund', async ({ page }) => {
      await page.getByText('0 of 1 done').waitFor();
      await passIdentityOnly(page);
      await connect(page);
      await page.getByText('Your wallet is not allowed yet').waitFor();
      await shoot(page, 'fund-allow');
      await page.getByRole('button', { name: 'Allow this wallet' }).click();
      await page.getByLabel('Amount').fill('100');
      await page.getByText('Of that, fee').waitFor();
      await page
        .getByText(/^[\d.]+ CTF$/)
        .first()
        .waitFor();
      await shoot(page, 'fund-ready');
      await page.getByRole('button', { name: 'Swap', exact: true }).click();
      await page.getByText(/You received [\d.]+ CTF/).waitFor();
      await shoot(page, 'fund-done');
    });
  }, 120_000);
});

async function passIdentityOnly(page: Page): Promise<void> {
  await row(page, 'kyc_approved').getByRole('button').click();
  const flow = page.frameLocator('iframe[title="Identity verification"]');
  await flow.getByRole('button', { name: 'Send' }).click();
  await flow.getByRole('heading', { name: 'Done' }).waitFor();
  await shoot(page, 'identity-dialog');
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByText('Wallet', { exact: true }).waitFor();
}

describe('the tokenized asset', () => {
  test('has a live price, and is bought at the firm one', async () => {
    await visit('?view=offer&slug=apple-tokenized', async ({ page }) => {
      await page.getByText('Market open').waitFor();
      await connect(page);
      await page.getByLabel('Amount').fill('100.5');
      await page.getByText(/^[\d.]+ AAPLon$/).waitFor();
      await shoot(page, 'tokenized-ready');
      await page.getByRole('button', { name: 'Buy AAPLon' }).click();
      await page.getByText(/You received [\d.]+ AAPLon/).waitFor();
      await shoot(page, 'tokenized-done');
    });
  }, 120_000);

  test('says that the market is closed, until when, and opens by itself', async () => {
    await sandbox.control('POST', '/sandbox/venue', { session: 'closed' });
    await visit('?view=offer&slug=apple-tokenized', async ({ page }) => {
      await page.getByText('The market is closed').first().waitFor();
      await page.getByText(/You can buy again from|Nothing can be bought right now/).waitFor();
      await shoot(page, 'tokenized-closed');
      await sandbox.control('POST', '/sandbox/venue', { session: 'regular' });
      await page.getByText('Market open').waitFor();
    });
  }, 120_000);
});

describe('the hooks', () => {
  const quotes = (page: Page) => {
    const seen: string[] = [];
    page.on('request', (one) => one.url().includes('/quote') && seen.push(one.url()));
    return seen;
  };

  test('ask once for what two components show, in strict mode too', async () => {
    await visit('?view=sign-in', async ({ page }) => {
      await shoot(page, 'sign-in');
      const seen = quotes(page);
      let release: () => void = () => undefined;
      const held = new Promise<void>((done) => {
        release = done;
      });
      await page.route('**/quote*', async (route) => {
        await held;
        await route.continue();
      });
      await page.goto(`${server.url}/?view=probe`);
      await page.locator('#b').getByText('loading').waitFor();
      expect(seen).toHaveLength(1);
      release();
      await expect.poll(() => page.locator('#a').textContent()).toMatch(/^\d/);
      expect(await page.locator('#a').textContent()).toBe(await page.locator('#b').textContent());
    });
  });

  test('do not poll while the page is hidden, and catch up when it is shown', async () => {
    await visit('?view=sign-in', async ({ page }) => {
      await page.clock.install();
      const seen = quotes(page);
      await page.goto(`${server.url}/?view=probe`);
      const poll = async () => {
        const answered = page.waitForEvent('requestfinished', (one) => one.url().includes('/quote'));
        await page.clock.runFor(500);
        await answered;
      };
      for (let polls = 0; polls < 3; polls++) await poll();
      const turn = (state: string) =>
        page.evaluate((value) => {
          Object.defineProperty(document, 'visibilityState', { value, configurable: true });
          document.dispatchEvent(new Event('visibilitychange'));
        }, state);
      await turn('hidden');
      const before = seen.length;
      await page.clock.runFor(60_000);
      expect(seen.length).toBe(before);
      await turn('visible');
      await expect.poll(() => seen.length).toBe(before + 1);
      await poll();
    });
  });

  test('abort what nobody shows any more', async () => {
    await visit('?view=probe', async ({ page }) => {
      const failed: string[] = [];
      page.on('requestfailed', (one) => failed.push(one.failure()?.errorText ?? ''));
      await expect.poll(() => page.locator('#a').textContent()).toMatch(/^\d/);
      await page.route('**/quote*', () => undefined);
      await page.waitForRequest('**/quote*');
      await page.evaluate(() => (window as unknown as { showProbe(show: boolean): void }).showProbe(false));
      await expect.poll(() => failed).toContain('net::ERR_ABORTED');
    });
  });
});
