import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installPackages } from '../../../service/test/support/packages.ts';
import { createSolanaTestWallet, createTestWallet } from '../../src/testing/index.ts';
import { startPageServer } from './page-server.ts';
import {
  confirmOrder,
  connect,
  decline,
  setWallet,
  shoot,
  startTestApp,
  type TestApp,
  verifyIdentity,
} from './test-app.ts';
import { installWalletConnect, startRelay, startWalletApp } from './walletconnect.ts';

const SOLANA = 'solana_devnet';
const { devDependencies, peerDependencies } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);
/** The wagmi version that the repository uses, and the oldest one that the package accepts. */
const NEWEST_WAGMI: string = devDependencies.wagmi;
const OLDEST_WAGMI: string = /[\d.]+/.exec(peerDependencies.wagmi)?.[0] ?? '';
const isSolana = ({ protocol }: { protocol: string }) => protocol === 'solana';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
}, 180_000);
afterAll(() => app?.close());

/** Serves the page with the oldest wagmi and viem that the SDK accepts, without the wallet SDKs that wagmi 2 depends on. */
async function startWithOldestWagmi() {
  const folder = await installPackages('wagmi');
  return startPageServer(app.sandbox, {
    wagmi: join(folder, 'node_modules/wagmi'),
    // The page uses only the `injected` connector, which `@wagmi/core` also exports. `@wagmi/connectors` itself would
    // load wallet SDKs.
    '@wagmi/connectors': join(folder, 'node_modules/@wagmi/core'),
  });
}

describe('a wallet that the host connected', () => {
  const PATH = '?view=offer&slug=harbour-quarter&option=public';
  const invest = async (page: Page) => {
    await page.getByText('Balance 1,000 USDC').waitFor();
    await page.getByLabel('Amount').fill('20');
    await confirmOrder(page, 'Invest');
  };

  test.each([NEWEST_WAGMI, OLDEST_WAGMI])(
    'through wagmi %s is used as it is, and follows wagmi',
    async (version) => {
      const other = version === OLDEST_WAGMI ? await startWithOldestWagmi() : undefined;
      await app.visit(`${PATH}&host=wagmi`, async ({ page, wallet }) => {
        if (other !== undefined) await page.goto(`${other.url}/${PATH}&host=wagmi`);
        await page.getByRole('button', { name: 'Connect wallet' }).first().click();
        expect(await page.getByRole('dialog').getByRole('listitem').allInnerTexts()).toEqual([
          'H\nHost wallet',
        ]);
        await page.getByRole('button', { name: 'Host wallet' }).click();
        await invest(page);
        await page.getByText('20 USDC in Harbour Quarter').waitFor();
        const account = page.locator('#account');
        expect(await account.innerText()).toBe(wallet.toLowerCase());
        await account.click();
        await expect.poll(() => account.innerText()).toBe('not connected');
        expect(await page.evaluate(() => (window as unknown as { wagmi: string }).wagmi)).toBe(
          `wagmi@${version}`,
        );
      });
      await other?.close();
    },
    300_000,
  );

  test('through wagmi sends nothing once the connector switches to another account', async () => {
    await app.visit(`${PATH}&host=wagmi`, async ({ page }) => {
      await page.getByRole('button', { name: 'Connect wallet' }).first().click();
      await page.getByRole('button', { name: 'Host wallet' }).click();
      await page.evaluate(() => Object.assign(window, { switchOn: 'eth_call' }));
      await invest(page);
      await expect.poll(() => page.locator('#account').innerText()).toBe(`0x${'11'.repeat(20)}`);
      await page.getByText('Your wallet switched accounts').waitFor();
      // A retry would buy with a wallet other than the one in the order that the user reviewed.
      await page.getByRole('button', { name: 'Start over' }).waitFor();
      expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
      const asked = await page.evaluate(() => (window as unknown as { asked: string[] }).asked);
      expect(asked).not.toContain('eth_sendTransaction');
    });
  }, 120_000);

  test('through WalletConnect pays for an investment from a wallet on another device', async () => {
    const packages = await installWalletConnect();
    const provider = '@walletconnect/ethereum-provider';
    const relay = await startRelay(packages);
    const other = await startPageServer(app.sandbox, {
      [provider]: join(packages, 'node_modules', provider),
    });
    let phone: Awaited<ReturnType<typeof startWalletApp>> | undefined;
    try {
      await app.visit('?view=sign-in', async ({ page, context, config }) => {
        // Blocks the WalletConnect services that the connection does not need.
        await context.route(/walletconnect\.(org|com)/, (route) => route.abort());
        const wallet = createTestWallet({ privateKey: config.evmKey, rpcUrls: config.rpcUrls });
        phone = await startWalletApp(packages, relay.url, wallet);
        await page.goto(`${other.url}/${PATH}&host=wagmi&relay=${relay.url}`);
        await page.getByRole('button', { name: 'Connect wallet' }).first().click();
        await page.getByRole('button', { name: 'WalletConnect' }).click();
        const uri = await page.waitForFunction(() => (window as unknown as { uri?: string }).uri);
        await phone.pair((await uri.jsonValue()) ?? '');
        await invest(page);
        await page.getByText('20 USDC in Harbour Quarter').waitFor();
        const on = 'on eip155:11155111';
        expect(phone.asked).toEqual([`personal_sign ${on}`, `eth_sendTransaction ${on}`]);
        await page.locator('#account').click();
        await expect.poll(() => page.locator('#account').innerText()).toBe('not connected');
      });
    } finally {
      await phone?.close();
      await other.close();
      relay.close();
    }
  }, 300_000);

  test("opens the app's own dialog instead of the SDK's", async () => {
    await app.visit(`${PATH}&host=app`, async ({ page }) => {
      await page.getByRole('button', { name: 'Connect wallet' }).first().click();
      await page.getByRole('button', { name: "The app's own wallet" }).click();
      await invest(page);
      await page.getByText('20 USDC in Harbour Quarter').waitFor();
      expect(await page.evaluate(() => localStorage.getItem('causeway.wallet.ethereum'))).toBeNull();
    });
  }, 120_000);
});

describe('the hook of a token sale', () => {
  test('buys without any component, and hooks beside it follow the purchase until it is settled', async () => {
    await app.visit('?view=headless&discover=off', async ({ page }) => {
      await page.getByRole('button', { name: 'Connect' }).click();
      const buy = page.getByRole('button', { name: 'Buy' });
      await page.getByLabel('Dollars').fill('1');
      expect(await buy.isDisabled()).toBe(true);
      await page.getByLabel('Dollars').fill('30');
      await buy.click();
      // An error that the app throws in `onDone` must not fail the purchase: a retry would buy twice.
      await page.locator('#step', { hasText: 'done' }).waitFor();
      await page.locator('#sale', { hasText: 'completed' }).waitFor({ timeout: 60_000 });
      await page.locator('#beside', { hasText: '30 completed' }).waitFor({ timeout: 5_000 });
    });
  }, 120_000);
});

describe('the token sale checkout', () => {
  test('turns an exact amount into a completed participation', async () => {
    await app.visit('?view=offer&slug=harbour-quarter&option=public', async ({ page }) => {
      await connect(page);
      await page.getByText('Balance 1,000 USDC').waitFor();
      const amount = page.getByLabel('Amount');
      await amount.fill('9.99');
      await page.getByText('The minimum is 10 USDC.').waitFor();
      await amount.fill('1000.000001');
      await page.getByText('Your balance is 1,000 USDC.').waitFor();
      await shoot(page, 'sale-problem');
      await page.getByRole('button', { name: 'Max' }).click();
      expect(await amount.inputValue()).toBe('1000');
      await amount.fill('125.123456');
      await page.getByText('100.098 HBQ').waitFor();
      await shoot(page, 'sale-ready');
      // On a phone, the amount and the button stay in view above the fields.
      const phone = { width: 390, height: 500 };
      await page.setViewportSize(phone);
      await page.getByLabel('Network').scrollIntoViewIfNeeded();
      const bar = page.locator('.cw-actions').filter({ hasText: '125.123456 USDC' });
      const box = await bar.boundingBox();
      expect([box !== null, (box?.y ?? 0) + (box?.height ?? 0) <= phone.height]).toEqual([true, true]);
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.getByRole('button', { name: 'Review order' }).click();
      const sheet = page.locator('[data-review]');
      await sheet.locator('dd').getByText('125.123456 USDC', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Edit order' }).click();
      await sheet.waitFor({ state: 'detached' });
      await confirmOrder(page, 'Invest');
      await page.getByText('125.123456 USDC in Harbour Quarter').waitFor();
      await page.getByText('Your investment is complete.').waitFor({ timeout: 60_000 });
      await shoot(page, 'sale-done');
      await page.goto(`${app.server.url}/?view=participations`);
      await page.getByText('125.123456').waitFor();
      await shoot(page, 'participations');
    });
  }, 120_000);

  test('resumes the purchase of this user after a reload with the existing approval, in any option', async () => {
    await app.visit('?view=sign-in', async ({ page }) => {
      const openAs = async (id: string, option = 'public') => {
        await page.unroute('**/causeway/session');
        await page.route('**/causeway/session', (route) =>
          route.fulfill({ json: { signed_in: true, user: { id, email: null }, scope: '' } }),
        );
        await page.goto(`${app.server.url}/?view=offer&slug=harbour-quarter&option=${option}`);
      };
      await openAs('user-a', 'syndicate');
      await connect(page);
      await page.getByText('Balance 1,000 USDC').waitFor();
      await openAs('user-a');
      await approveOnly(page);
      await page.unroute('**/v1/participations');
      await openAs('user-b');
      await page.getByText('You have an open approval of 50 USDC').waitFor();
      expect(await page.getByText('You have an unfinished purchase').count()).toBe(0);
      await openAs('user-a', 'syndicate');
      await page.getByText('You have an unfinished purchase').waitFor();
      await shoot(page, 'sale-unfinished');
      const sent = recordSends(page);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByText('50 USDC in Harbour Quarter').waitFor();
      // The price is that of the public option, where the purchase started.
      await page.getByText('40 HBQ').waitFor();
      expect(sent).toEqual([]);
      await page.reload();
      await page.getByLabel('Amount').waitFor();
      expect(await page.getByText('You have an unfinished purchase').count()).toBe(0);
    });
  }, 120_000);

  test('shows the purchase of a user without an id only to the wallet that made it', async () => {
    await app.visit('?view=sign-in', async ({ page, context }) => {
      let id: string | null = null;
      await page.route('**/causeway/session', (route) =>
        route.fulfill({ json: { signed_in: true, user: { id, email: null }, scope: '' } }),
      );
      const path = `${app.server.url}/?view=offer&slug=harbour-quarter&option=public`;
      await page.goto(path);
      await connect(page);
      await approveOnly(page);
      await page.goto(path);
      await page.getByText('You have an unfinished purchase').waitFor();
      // The purchase is still shown after the app's server starts to report the user's id.
      id = 'user-a';
      await page.goto(path);
      await page.getByText('You have an unfinished purchase').waitFor();
      await context.addInitScript(
        (evmKey) => {
          Object.assign((window as unknown as { pageConfig: object }).pageConfig, { evmKey });
        },
        `0x${'1'.repeat(64)}`,
      );
      await page.goto(path);
      await page.getByText('Balance 0 USDC').waitFor();
      expect(await page.getByText('You have an unfinished purchase').count()).toBe(0);
    });
  }, 120_000);

  test.each(['Discard', 'Revoke approval', 'Discard of the hook'])(
    'shows a purchase that the service recorded although its reply was lost, instead of: %s',
    async (action) => {
      await app.visit('?view=offer&slug=harbour-quarter&option=public', async ({ page }) => {
        const [name = ''] = action.split(' of the hook');
        await connect(page);
        await page.getByLabel('Amount').fill('50');
        let recorded = false;
        await page.route('**/v1/participations', async (route) => {
          if (route.request().method() !== 'POST') return route.continue();
          if (!recorded) await route.fetch();
          recorded = true;
          return route.abort().catch(() => undefined);
        });
        await confirmOrder(page, 'Invest');
        await expect.poll(() => recorded).toBe(true);
        const isHeadless = action !== name;
        if (isHeadless) await page.goto(`${app.server.url}/?view=headless`);
        else await page.reload();
        await page.unroute('**/v1/participations');
        const sent = recordSends(page);
        await page.getByRole('button', { name }).click();
        if (isHeadless) return page.locator('#sale', { hasText: 'completed' }).waitFor({ timeout: 60_000 });
        await page.getByText('50 USDC in Harbour Quarter').waitFor();
        await page.getByText('Your investment is complete.').waitFor({ timeout: 60_000 });
        await page.reload();
        await page.getByLabel('Amount').waitFor();
        expect([sent, await page.getByText('You have an unfinished purchase').count()]).toEqual([[], 0]);
      });
    },
    120_000,
  );

  /** Records the transactions that the page's wallet sends. */
  const recordSends = (page: Page) => {
    const sent: string[] = [];
    page.on('request', (one) => {
      if (one.postData()?.includes('eth_sendRawTransaction')) sent.push(one.url());
    });
    return sent;
  };
  /** Returns the purchases that the browser has recorded. */
  const storedSales = (page: Page) =>
    page.evaluate(() =>
      Object.entries({ ...localStorage }).flatMap(([key, value]) =>
        /^causeway\.sale\.[^.]*\./.test(key) ? [JSON.parse(value) as Record<string, string>] : [],
      ),
    );
  /** Keeps the next prompt for a method open until `release` is called. */
  const hold = (page: Page, method: string) =>
    page.evaluate((held) => Object.assign(window, { hold: held, release: undefined }), method);
  const isHeld = (page: Page) =>
    page.waitForFunction(() => (window as unknown as { release?: unknown }).release !== undefined);
  const release = (page: Page) => page.evaluate(() => (window as unknown as { release(): void }).release());
  /** Leaves the page during the wallet's prompt, approves the prompt, and comes back. */
  const leaveDuringPrompt = async (page: Page, amount: string) => {
    await page.getByLabel('Amount').fill(amount);
    await hold(page, 'eth_sendTransaction');
    await confirmOrder(page, 'Invest');
    await page.getByText('Confirm the approval in your wallet').waitFor();
    await isHeld(page);
    await page.evaluate(() => (window as unknown as { leave(): void }).leave());
    await page.getByLabel('Amount').waitFor({ state: 'detached' });
    await release(page);
    await page.evaluate(() => (window as unknown as { comeBack(): void }).comeBack());
    await page.getByText('You have an unfinished purchase').waitFor();
    await page.getByText(`You approved ${amount} USDC on`).waitFor();
  };
  /**
   * Changes the browser's record of the purchase, or removes it if `change` is null. Then reloads the page. Returns the
   * original record and its key.
   */
  const changeRecord = async (page: Page, change: object | null) => {
    const key = await page.evaluate(
      () => Object.keys(localStorage).find((one) => one.startsWith('causeway.sale.')) ?? '',
    );
    const text = await page.evaluate((name) => localStorage.getItem(name), key);
    const recorded = JSON.parse(text ?? 'null') as Record<string, string>;
    await page.evaluate(
      ([name, value]) => (value === null ? localStorage.removeItem(name) : localStorage.setItem(name, value)),
      [key, change && JSON.stringify({ ...recorded, ...change })] as const,
    );
    await page.reload();
    return { key, recorded };
  };

  test('keeps the approval of an unfinished purchase from another offer with the same fund', async () => {
    await app.visit('?view=offer&slug=harbour-quarter&option=public', async ({ page }) => {
      const { slug } = await app.sandbox.sellAlso(
        await (await app.sandbox.newUser()).offers.get('harbour-quarter'),
        'ethereum_sepolia',
      );
      await connect(page);
      await approveOnly(page);
      const allowances = page.waitForResponse(/token\/allowance/);
      await page.goto(`${app.server.url}/?view=offer&slug=${slug}`);
      await allowances;
      const sent = recordSends(page);
      await page.getByLabel('Amount').fill('20');
      await confirmOrder(page, 'Invest');
      await page.getByText('A purchase is still open').waitFor();
      await shoot(page, 'sale-open-elsewhere');
      expect([sent, await page.getByText('You have an open approval').count()]).toEqual([[], 0]);
      await page.unroute('**/v1/participations');
      await page.goto(`${app.server.url}/?view=offer&slug=harbour-quarter&option=public`);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByText('Your investment is complete.').waitFor({ timeout: 60_000 });
      expect(sent).toEqual([]);
      await page.goto(`${app.server.url}/?view=offer&slug=${slug}`);
      await page.getByLabel('Amount').fill('20');
      await confirmOrder(page, 'Invest');
      await page.getByText('20 USDC in A fine asset').waitFor();
    });
  }, 120_000);

  test('forgets the unfinished purchase of the former offer if the hook gets another offer', async () => {
    await app.visit('?view=offer&slug=harbour-quarter&option=public', async ({ page }) => {
      await connect(page);
      await approveOnly(page);
      await page.goto(`${app.server.url}/?view=headless`);
      const shown = (id: string, text: string) => page.locator(id, { hasText: text }).waitFor();
      const show = (slug: string) =>
        page.evaluate(
          (next) => (window as unknown as { showOffer(slug: string): void }).showOffer(next),
          slug,
        );
      await shown('#unfinished', '50000000');
      await show('old-brewery');
      await shown('#offer', 'old-brewery');
      await expect.poll(() => page.locator('#unfinished').textContent()).toBe('');
      await show('harbour-quarter');
      await shown('#unfinished', '50000000');
    });
  }, 120_000);

  test('finishes a purchase that was approved after the user left, or revokes its approval', async () => {
    await app.visit('?view=offer&slug=harbour-quarter&option=public', async ({ page }) => {
      await connect(page);
      const sent = recordSends(page);
      await leaveDuringPrompt(page, '40');
      await shoot(page, 'sale-orphaned');
      sent.length = 0;
      // Removes the approval's hash, as if the page had been closed during the prompt. The page then looks up the
      // approval on the chain.
      const { key } = await changeRecord(page, { approvalHash: null });
      await page.getByText('You approved 40 USDC on').waitFor();
      await page.route('**/v1/participations', (route) =>
        route.request().method() === 'POST' ? route.abort() : route.continue(),
      );
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByText('Recording your investment').waitFor();
      const stored = await page.evaluate((name) => localStorage.getItem(name), key);
      expect(JSON.parse(stored ?? '{}').approvalHash).toMatch(/^0x[0-9a-f]{64}$/);
      await page.unroute('**/v1/participations');
      await page.reload();
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByText('40 USDC in Harbour Quarter').waitFor();
      expect(sent).toEqual([]);
      await page.getByText('Your investment is complete.').waitFor({ timeout: 60_000 });
      await page.getByRole('button', { name: 'Invest more' }).click();
      await leaveDuringPrompt(page, '30');
      // This time, the user leaves while the wallet asks to confirm the revocation, and confirms it afterwards.
      await hold(page, 'eth_sendTransaction');
      await page.getByRole('button', { name: 'Revoke approval' }).click();
      await isHeld(page);
      await page.evaluate(() => (window as unknown as { leave(): void }).leave());
      await release(page);
      await expect.poll(() => storedSales(page), { timeout: 30_000 }).toEqual([]);
      await page.reload();
      await page.getByText('Balance 960 USDC').waitFor();
      const open = page.getByText(/You have an (unfinished purchase|open approval)/);
      await expect.poll(() => open.count(), { timeout: 30_000 }).toBe(0);
    });
  }, 120_000);

  test('only shows an approval if it covers no recorded purchase, whatever the service says', async () => {
    await app.visit('?view=offer&slug=harbour-quarter&option=public', async ({ page, context }) => {
      await connect(page);
      const sent = recordSends(page);
      const unfinished = page.getByText('You have an unfinished purchase');
      await leaveDuringPrompt(page, '40');
      const { key, recorded } = await changeRecord(page, null);
      const record = async (change: object) => {
        const value = JSON.stringify({ ...recorded, approvalHash: null, ...change });
        await page.evaluate(([name, text]) => localStorage.setItem(name, text), [key, value] as const);
        await page.reload();
      };
      sent.length = 0;
      const isOnlyShown = async () => {
        await page.getByText('You have an open approval of 40 USDC').waitFor();
        expect(await unfinished.count()).toBe(0);
      };
      await isOnlyShown();
      await shoot(page, 'sale-open-approval');
      await page.getByRole('button', { name: 'Use this amount' }).click();
      expect(await page.getByLabel('Amount').inputValue()).toBe('40');
      await page.getByRole('button', { name: 'Review order' }).waitFor();
      await record({ amount: '50000000' });
      await isOnlyShown();
      await record({ wallet: `0x${'11'.repeat(20)}` });
      await isOnlyShown();

      // The service claims a higher allowance than the one on the chain.
      const lie = { object: 'token_allowance', allowance: '500000000' };
      await page.route('**/v1/token/allowance?*', (route) => route.fulfill({ json: lie }));
      await record({ amount: '400000000' });
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByText('The approved amount is too small').waitFor();
      await page.unroute('**/v1/token/allowance?*');

      // The service says that the approval was already used, so the page stops offering the purchase and the approval.
      const used = { type: 'api_error', code: 'approval_already_used', message: 'used', errors: {} };
      await page.route('**/v1/participations', (route) =>
        route.request().method() === 'POST'
          ? route.fulfill({ status: 409, json: { ...used, event_id: 'e' } })
          : route.continue(),
      );
      await record({});
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByText('This approval was already used').waitFor();
      // A retry would buy again what the used approval has already paid for.
      expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
      await page.getByRole('button', { name: 'Start over' }).click();
      await page.getByLabel('Amount').waitFor();
      expect(await page.getByText(/You have an (unfinished purchase|open approval)/).count()).toBe(0);
      await page.reload();
      await isOnlyShown();
      expect(sent).toEqual([]);
      await page.unroute('**/v1/participations');
      await hold(page, 'eth_sendTransaction');
      await page.getByRole('button', { name: 'Revoke approval' }).click();
      await isHeld(page);
      // No purchase may start in the meantime, because the revocation would take away the purchase's approval.
      const other = await context.newPage();
      await other.goto(page.url());
      await other.getByLabel('Amount').fill('40');
      await confirmOrder(other, 'Invest');
      await other.getByText('A purchase is still open').waitFor();
      await other.close();
      await release(page);
      await page.getByText('You have an open approval').waitFor({ state: 'detached' });
      expect(sent).toHaveLength(1);
    });
  }, 120_000);

  test('explains a request declined in the wallet, and retries it', async () => {
    await app.visit('?view=offer&slug=harbour-quarter&option=public', async ({ page }) => {
      await connect(page);
      await page.getByLabel('Amount').fill('20');
      await decline(page, 'eth_sendTransaction');
      await confirmOrder(page, 'Invest');
      await page.getByText('You declined the request in your wallet').waitFor();
      await shoot(page, 'sale-declined');
      await decline(page, '');
      await setWallet(page, { lockAfter: 'eth_sendTransaction' });
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('20 USDC in Harbour Quarter').waitFor();
      expect(await storedSales(page)).toEqual([]);
    });
  }, 120_000);

  test('offers no second approval if the wallet fails after it sent the first one', async () => {
    await app.visit('?view=offer&slug=harbour-quarter&option=public', async ({ page }) => {
      await connect(page);
      await page.getByLabel('Amount').fill('20');
      await setWallet(page, { dropAfter: 'eth_sendTransaction' });
      await confirmOrder(page, 'Invest');
      await page.getByText("The result of the transaction isn't clear").waitFor();
      expect(await page.getByRole('button', { name: /Try again|Continue/ }).count()).toBe(0);
      await setWallet(page, { dropAfter: '' });
      const sent = recordSends(page);
      await page.getByRole('button', { name: 'Start over' }).click();
      // The next poll finds the approval on the chain.
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByText('20 USDC in Harbour Quarter').waitFor();
      expect(sent).toEqual([]);
    });
  }, 120_000);

  test('buys once if the reply is lost and the browser stores nothing', async () => {
    await app.visit('?view=sign-in', async ({ page, context }) => {
      await context.addInitScript(() => {
        Storage.prototype.setItem = () => {
          throw new DOMException('full', 'QuotaExceededError');
        };
      });
      await page.goto(`${app.server.url}/?view=offer&slug=harbour-quarter&option=public`);
      await connect(page);
      await page.getByLabel('Amount').fill('20');
      await page.route('**/v1/participations', async (route) => {
        if (route.request().method() !== 'POST') return route.continue();
        await route.fetch();
        return route.abort();
      });
      const sent = recordSends(page);
      await confirmOrder(page, 'Invest');
      const retry = page.getByRole('button', { name: 'Try again' });
      await retry.waitFor();
      await page.unroute('**/v1/participations');
      await retry.click();
      await page.getByText('20 USDC in Harbour Quarter').waitFor();
      expect([sent.length, await storedSales(page)]).toEqual([1, []]);
    });
  }, 120_000);

  test('retries every part of the page that did not load at once', async () => {
    await app.visit('?view=sign-in', async ({ page }) => {
      const failed = page.getByText("This part of the page didn't load");
      await page.route('**/late-parts-*.js', (route) => route.abort());
      await page.goto(
        `${app.server.url}/?view=offer&slug=harbour-quarter&option=accredited&section=checklist`,
      );
      // The steps in closed rows are hidden, but they are in the DOM, so they count too.
      await expect.poll(() => failed.count()).toBeGreaterThan(1);
      await page.unroute('**/late-parts-*.js');
      await page.getByRole('button', { name: 'Try again' }).first().click();
      await expect.poll(() => failed.count()).toBe(0);
    });
  }, 120_000);

  test('keeps no purchase that could not start because the page did not load', async () => {
    await app.visit('?view=sign-in', async ({ page }) => {
      await page.route('**/late-parts-*.js', (route) => route.abort());
      await page.goto(`${app.server.url}/?view=offer&slug=harbour-quarter&option=public`);
      await connect(page);
      await page.getByLabel('Amount').fill('20');
      const review = page.getByRole('button', { name: 'Review order' });
      await review.click();
      await page.getByText("This part of the page didn't load").waitFor();
      expect([await review.isEnabled(), await page.getByLabel('Amount').inputValue()]).toEqual([true, '20']);
      await page.unroute('**/late-parts-*.js');
      await page.route('**/flows-*.js', (route) => route.abort());
      await confirmOrder(page, 'Invest');
      await page.getByText("This part of the page didn't load").waitFor();
      expect(await storedSales(page)).toEqual([]);
      await page.unroute('**/flows-*.js');
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('20 USDC in Harbour Quarter').waitFor();
    });
  }, 120_000);

  describe.each(['navigator.locks', 'a lease if locks are denied'])(
    'in two tabs, by means of %s',
    (means) => {
      const PATH = '?view=offer&slug=harbour-quarter&option=public';
      /** Opens the checkout in two tabs for the same user, with a connected wallet. */
      const inTwoTabs = (run: (first: Page, second: Page) => Promise<void>) =>
        app.visit('?view=sign-in', async ({ page, context }) => {
          if (means !== 'navigator.locks')
            await context.addInitScript(() => {
              LockManager.prototype.request = () =>
                Promise.reject(new DOMException('denied', 'SecurityError'));
            });
          const second = await context.newPage();
          await page.goto(`${app.server.url}/${PATH}`);
          await connect(page);
          await second.goto(`${app.server.url}/${PATH}`);
          await second.getByText('Balance 1,000 USDC').waitFor();
          await run(page, second);
        });

      test('runs one purchase at a time, and the other one afterwards', async () => {
        await inTwoTabs(async (first, second) => {
          const sent = recordSends(second);
          const elsewhere = second.getByText('A purchase is still open');
          await first.getByLabel('Amount').fill('40');
          await hold(first, 'eth_sendTransaction');
          await confirmOrder(first, 'Invest');
          await isHeld(first);
          await second.getByLabel('Amount').fill('30');
          await confirmOrder(second, 'Invest');
          await elsewhere.waitFor();
          // As soon as the first tab has the approval, keeps that tab waiting for the service.
          let answer: (() => void) | undefined;
          await first.route('**/v1/participations', async (route) => {
            if (route.request().method() === 'POST') await new Promise<void>((resolve) => (answer = resolve));
            return route.continue();
          });
          await release(first);
          await expect.poll(() => answer).toBeDefined();
          await second.getByRole('button', { name: 'Edit order' }).click();
          await second.getByText('You have an unfinished purchase').waitFor();
          await second.getByRole('button', { name: 'Discard' }).click();
          await elsewhere.waitFor();
          await second.getByRole('button', { name: 'Revoke approval' }).click();
          await elsewhere.nth(1).waitFor();
          await second.getByRole('button', { name: 'Continue' }).click();
          await elsewhere.waitFor();
          expect([sent, (await storedSales(second)).length]).toEqual([[], 1]);
          answer?.();
          await first.getByText('40 USDC in Harbour Quarter').waitFor();
          await first.getByText('Your investment is complete.').waitFor({ timeout: 60_000 });
          // The first tab has finished the purchase, so a retry would buy a second time.
          await second.getByText('This purchase is no longer open').waitFor();
          await second.getByRole('button', { name: 'Start over' }).waitFor();
          expect(await second.getByRole('button', { name: /Try again|Continue/ }).count()).toBe(0);
          await second.getByRole('button', { name: 'Start over' }).click();
          await second.getByLabel('Amount').fill('30');
          await confirmOrder(second, 'Invest');
          await second.getByText('30 USDC in Harbour Quarter').waitFor();
          expect([sent.length, await storedSales(second)]).toEqual([1, []]);
        });
      }, 120_000);

      test.each(['approves', 'declines'])(
        'starts nothing else while a prompt is open that outlived its page, until the user %s it',
        async (how) => {
          await inTwoTabs(async (first, second) => {
            const sent = recordSends(second);
            if (how === 'declines') await decline(first, 'eth_sendTransaction');
            await first.getByLabel('Amount').fill('40');
            await hold(first, 'eth_sendTransaction');
            await confirmOrder(first, 'Invest');
            await isHeld(first);
            await first.evaluate(() => (window as unknown as { leave(): void }).leave());
            await second.getByLabel('Amount').fill('30');
            await confirmOrder(second, 'Invest');
            await second.getByText('A purchase is still open').waitFor();
            expect(sent).toEqual([]);
            await release(first);
            const stored = () =>
              storedSales(first).then((sales) => sales.map((one) => [one.amount, one.approvalHash !== null]));
            await expect.poll(stored).toEqual(how === 'approves' ? [['40000000', true]] : []);
            if (how === 'approves') {
              await second.getByRole('button', { name: 'Edit order' }).click();
              await second.getByText('You approved 40 USDC on').waitFor();
              await second.getByRole('button', { name: 'Continue' }).click();
              await second.getByText('40 USDC in Harbour Quarter').waitFor();
            } else {
              await second.getByRole('button', { name: 'Try again' }).click();
              await second.getByText('30 USDC in Harbour Quarter').waitFor();
            }
            expect(sent).toHaveLength(how === 'approves' ? 0 : 1);
          });
        },
        120_000,
      );
    },
  );

  test('accepts only a registered wallet if the option requires one, and registers it', async () => {
    await app.visit('?view=offer&slug=harbour-quarter&option=syndicate', async ({ page }) => {
      await connect(page);
      await page.getByLabel('Amount').fill('100');
      await page.evaluate(() => {
        const page = window as unknown as { pageConfig: { evmKey: string } };
        page.pageConfig.evmKey = `0x${'1'.repeat(64)}`;
      });
      await page.getByRole('button', { name: 'Change' }).click();
      await page.getByRole('button', { name: 'Switch wallet' }).click();
      await page.getByRole('button', { name: 'Test wallet', exact: true }).click();
      await page.getByText("This wallet isn't registered for this option").waitFor();
      expect(await page.getByRole('button', { name: 'Review order' }).isDisabled()).toBe(true);
      await shoot(page, 'sale-unregistered');
      await page.getByRole('button', { name: 'Register this wallet' }).click();
      await page.getByText("This wallet isn't registered for this option").waitFor({ state: 'detached' });
      await page.getByText('Your balance is 0 USDC.').waitFor();
    });
  }, 120_000);

  test('keeps the purchase on the page if it takes the last tokens', async () => {
    await app.visit('?view=offer&slug=harbour-quarter&option=public', async ({ page }) => {
      let isSoldOut = false;
      await page.route('**/eligibility*', async (route) => {
        const response = await route.fetch();
        const reply = (await response.json()) as { options: { checks: { code: string }[] }[] };
        if (isSoldOut)
          for (const check of reply.options.flatMap(({ checks }) => checks))
            if (check.code === 'supply') Object.assign(check, { status: 'rejected', message: 'Sold out.' });
        return route.fulfill({ response, json: reply });
      });
      await connect(page);
      await page.getByLabel('Amount').fill('50');
      await confirmOrder(page, 'Invest');
      await page.getByText('50 USDC in Harbour Quarter').waitFor();
      isSoldOut = true;
      // When the page regains focus, it reloads the data that it shows, except data younger than five seconds.
      await page.waitForTimeout(5_500);
      const reloaded = page.waitForResponse(/eligibility/);
      await page.evaluate(() => dispatchEvent(new Event('focus')));
      await reloaded;
      await page.getByText('Your investment is complete.').waitFor({ timeout: 60_000 });
      await page.getByRole('button', { name: 'Invest more' }).click();
      await page.getByText('Sold out.').first().waitFor();
    });
  }, 120_000);

  test('is closed before the offer opens and after it ends', async () => {
    await app.look('?view=offer&slug=old-brewery', async ({ page }) => {
      await page.locator('.cw-checkout').getByText('This offer has ended').waitFor();
      await page.goto(`${app.server.url}/?view=offer&slug=tidal-array`);
      await page.getByText("This offer isn't open yet").waitFor();
      await shoot(page, 'offer-upcoming');
    });
  });
});

describe('the fund checkout', () => {
  test('verifies the user, allows the wallet, previews and swaps', async () => {
    await app.visit('?view=offer&slug=treasury-fund', async ({ page }) => {
      await page.getByText('0 of 1 done').waitFor();
      await verifyIdentity(page, 'kyc_approved');
      await connect(page);
      await page.getByText("Your wallet isn't allowed yet").waitFor();
      await shoot(page, 'fund-allow');
      await page.getByRole('button', { name: 'Allow this wallet' }).click();
      await page.getByLabel('Amount').fill('100');
      await page.getByText('Fee included').waitFor();
      await page
        .getByText(/^[\d.]+ CTF$/)
        .first()
        .waitFor();
      await shoot(page, 'fund-ready');
      await confirmOrder(page, 'Swap');
      await page.getByText(/You received [\d.]+ CTF/).waitFor();
      await shoot(page, 'fund-done');

      // Of the user's 100 USDC, the fund can take about 60 when the user reviews the order, and 80 when the user
      // confirms it. Only the reviewed amount may be swapped.
      let available = '60123456';
      await page.route('**/v1/swap/preview?*', (route) => {
        const url = new URL(route.request().url());
        if (url.searchParams.get('amount') === '100000000') url.searchParams.set('amount', available);
        return route.continue({ url: url.href });
      });
      await page.getByRole('button', { name: 'Buy more' }).click();
      await page.getByLabel('Amount').fill('100');
      await page.getByLabel('The fund can only take part of this right now.').check();
      await page.getByRole('button', { name: 'Review order' }).click();
      await page.locator('[data-review] dd').getByText('60.123456 USDC', { exact: true }).waitFor();
      available = '80000000';
      // Even if the wallet locks itself during the swap, the page shows the result.
      await setWallet(page, { lockAfter: 'eth_sendTransaction' });
      await page.getByRole('button', { name: 'Swap', exact: true }).click();
      await page.locator('.cw-done').getByText('60.123456 USDC', { exact: true }).waitFor();
    });
  }, 120_000);
});

describe('the checkout of a stopped fund', () => {
  test('explains the stop instead of asking for an amount', async () => {
    await app.visit('?view=sign-in', async ({ page, email }) => {
      await page.route('**/v1/swap/status*', (route) =>
        route.fulfill({ json: { object: 'swap_status', stopped: '4', swap_level: '4' } }),
      );
      const review = { email, level_name: 'BasicKYCLevel', answer: 'GREEN' };
      await app.sandbox.control('POST', '/sandbox/identity/reviews', review);
      await page.goto(`${app.server.url}/?view=offer&slug=treasury-fund`);
      await page.getByText('Swaps are paused').waitFor();
      expect(await page.getByLabel('Amount').count()).toBe(0);
      await shoot(page, 'fund-stopped');
    });
  });
});

describe('the tokenized asset checkout', () => {
  test('shows a live price and buys at the firm one', async () => {
    await app.visit('?view=offer&slug=apple-tokenized', async ({ page }) => {
      await page.getByText('Market open').waitFor();
      await connect(page);
      await page.getByLabel('Amount').fill('100.5');
      await page
        .getByText(/^[\d.]+ AAPLon$/)
        .first()
        .waitFor();
      await shoot(page, 'tokenized-ready');
      await page.evaluate(() => {
        const request = navigator.locks.request.bind(navigator.locks) as (...args: unknown[]) => unknown;
        const names: string[] = [];
        Object.assign(window, { lockNames: names });
        Object.assign(navigator.locks, {
          request: (name: string, ...rest: unknown[]) => {
            names.push(name);
            return request(name, ...rest);
          },
        });
      });
      await confirmOrder(page, 'Buy AAPLon');
      await page.getByText(/You received [\d.]+ AAPLon/).waitFor();
      // The page took this lock, so no other tab could revoke the approval in the meantime.
      const names = await page.evaluate(() => (window as unknown as { lockNames: string[] }).lockNames);
      expect(names).toEqual([expect.stringMatching(/^causeway\.swap\.0x[0-9a-f]{40}$/)]);
      await shoot(page, 'tokenized-done');
    });
  }, 120_000);

  test('shows the same amounts before, during and after the purchase, to the last digit', async () => {
    await app.sandbox.control('POST', '/sandbox/venue', { assets: { AAPLon: { price: '225' } } });
    await app.visit('?view=offer&slug=apple-tokenized', async ({ page }) => {
      const shownAs = (term: RegExp) =>
        page.locator('.cw-summary > div', { hasText: term }).locator('[title]').getAttribute('title');
      await connect(page);
      await page.getByLabel('Amount').fill('250');
      await page
        .getByText(/^[\d.]+ AAPLon$/)
        .first()
        .waitFor();
      const [fee, receive] = [await shownAs(/^Fee/), await shownAs(/^You receive/)];
      expect(fee).toBe('1.243782 USDC');
      await page.getByRole('button', { name: 'Review order' }).click();
      await page.getByText('Your order').waitFor();
      expect([await shownAs(/^Fee/), await shownAs(/^You receive/)]).toEqual([fee, receive]);
      expect(await shownAs(/^Minimum received/)).not.toBe(receive);
      await shoot(page, 'tokenized-review');
      await page.getByRole('button', { name: 'Buy AAPLon', exact: true }).click();
      await expect.poll(() => shownAs(/^You receive/)).toBe(receive);
      const title = page.locator('.cw-done-title');
      await title.waitFor();
      expect([await shownAs(/^Fee/), await title.getAttribute('title')]).toEqual([fee, receive]);
    });
    await app.sandbox.control('POST', '/sandbox/venue', { assets: { AAPLon: { price: null } } });
  }, 120_000);

  test('reuses the order after the user declines it in the wallet', async () => {
    await app.visit('?view=offer&slug=apple-tokenized', async ({ page }) => {
      const keys: (string | undefined)[] = [];
      page.on('request', (one) => {
        if (one.url().endsWith('/swap/transaction')) keys.push(one.headers()['idempotency-key']);
      });
      await connect(page);
      await page.getByLabel('Amount').fill('100.5');
      await decline(page, 'eth_sendTransaction#2');
      await confirmOrder(page, 'Buy AAPLon');
      await page.getByText('You declined the request in your wallet').waitFor();
      await page.getByText('Fee included').waitFor();
      await page.getByText('0.5 USDC', { exact: true }).waitFor();
      await shoot(page, 'tokenized-declined');
      await setWallet(page, { lockAfter: 'eth_sendTransaction' });
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText(/You received [\d.]+ AAPLon/).waitFor();
      expect(keys).toHaveLength(2);
      expect(new Set(keys).size).toBe(1);
    });
  }, 120_000);

  test.each([
    ['the reply was lost', null],
    ['the service was still placing it', { status: 409, code: 'idempotency_in_progress' }],
    ['the reply was lost and a retry was limited', { status: 429, code: 'rate_limited' }],
  ])(
    'gets the same order again if %s',
    async (_why, refusal) => {
      await app.visit('?view=offer&slug=apple-tokenized', async ({ page }) => {
        const keys: (string | undefined)[] = [];
        let isFailing = true;
        await page.route('**/swap/transaction', async (route) => {
          keys.push(route.request().headers()['idempotency-key']);
          if (!isFailing) return route.continue();
          if (keys.length === 1) await route.fetch();
          if (keys.length === 1 || refusal === null) return route.abort();
          const { status, code } = refusal;
          const json = { type: 'api_error', code, message: 'Try again.', errors: {}, event_id: 'e' };
          return route.fulfill({ status, json, headers: { 'retry-after': '1' } });
        });
        await connect(page);
        await page.getByLabel('Amount').fill('100.5');
        await confirmOrder(page, 'Buy AAPLon');
        const retry = page.getByRole('button', { name: 'Try again' });
        await retry.waitFor();
        isFailing = false;
        await retry.click();
        await page.getByText(/You received [\d.]+ AAPLon/).waitFor();
        expect(new Set(keys).size).toBe(1);
      });
    },
    120_000,
  );

  test('shows that the market is closed and until when, and reopens automatically', async () => {
    await app.sandbox.control('POST', '/sandbox/venue', { session: 'closed' });
    await app.look('?view=offer&slug=apple-tokenized', async ({ page }) => {
      const refused: string[] = [];
      page.on('response', (one) => one.status() === 409 && refused.push(one.url()));
      await page.getByText('The market is closed').first().waitFor();
      await page.getByText(/You can buy again from|You can't buy right now/).waitFor();
      await shoot(page, 'tokenized-closed');
      // Longer than the interval between two quotes.
      await page.waitForTimeout(4_000);
      expect(refused.length).toBeLessThanOrEqual(1);
      await app.sandbox.control('POST', '/sandbox/venue', { session: 'regular' });
      await page.getByText('Market open').waitFor();
    });
  }, 120_000);
});

describe('a Solana wallet that registers itself (Wallet Standard)', () => {
  test('is discovered, proves its ownership, and pays for an investment that is settled', async () => {
    const rpcUrl = app.sandbox.overview.chains.find(({ chain }) => chain === SOLANA)?.rpc_url;
    const { private_key: privateKey = '' } = app.sandbox.overview.wallets.findLast(isSolana) ?? {};
    const wallet = createSolanaTestWallet({ privateKey, rpcUrl });
    const asked: string[] = [];
    await app.visit('?view=sign-in', async ({ page, context }) => {
      await context.exposeFunction('askWallet', async (method: string, bytes: number[], chain?: string) => {
        asked.push(chain === undefined ? method : `${method} on ${chain}`);
        const sign = method === 'signMessage' ? wallet.signMessage : wallet.signAndSendTransaction;
        return [...((await sign?.(Uint8Array.from(bytes), SOLANA)) ?? [])];
      });
      await context.addInitScript(registerStandardWallet, wallet.address);
      await page.goto(`${app.server.url}/?view=offer&slug=harbour-quarter&option=public`);
      await page.getByLabel('Network').selectOption('Solana Devnet');
      await page.getByRole('button', { name: 'Connect wallet' }).first().click();
      await page.getByRole('button', { name: 'Ghost' }).click();
      await page.getByText('Balance').waitFor();
      await page.reload(); // The page remembers the wallet and restores it without a prompt.
      await page.getByLabel('Network').selectOption('Solana Devnet');
      await page.getByText('Balance').waitFor();
      await page.getByLabel('Amount').fill('20');
      await confirmOrder(page, 'Invest');
      await page.getByText('Your investment is complete.').waitFor({ timeout: 90_000 });
    });
    expect(asked).toEqual(['signMessage', 'signAndSendTransaction on solana:devnet']);
  });
});

/** Approves a payment of 50, and blocks the request that would record the participation. */
async function approveOnly(page: Page): Promise<void> {
  await page.getByLabel('Amount').fill('50');
  await page.route('**/v1/participations', (route) =>
    route.request().method() === 'POST' ? route.abort() : route.continue(),
  );
  await confirmOrder(page, 'Invest');
  await page.getByText('Recording your investment').waitFor();
}

/** Registers a wallet with the page, as the Wallet Standard prescribes. The private key stays in the test. */
function registerStandardWallet(address: string): void {
  type Ask = (method: string, bytes: number[], chain?: string) => Promise<number[]>;
  type Input = { account: { address: string }; message: Uint8Array; transaction: Uint8Array; chain: string };
  const { askWallet } = window as unknown as { askWallet: Ask };
  const sign = async (method: string, { account }: Input, bytes: Uint8Array, chain?: string) => {
    if (account.address !== address) throw new Error(`not an account of this wallet: ${account.address}`);
    return [{ signature: Uint8Array.from(await askWallet(method, [...bytes], chain)) }];
  };
  const accounts = [
    { address: '0x1', chains: ['eip155:1'] },
    { address, chains: ['solana:devnet'] },
  ];
  const wallet = {
    ...{
      version: '1.0.0',
      name: 'Ghost',
      icon: 'data:image/svg+xml,<svg/>',
      chains: ['solana:devnet'],
      accounts: [],
    },
    features: {
      'standard:connect': { connect: async () => ({ accounts }) },
      'solana:signMessage': { signMessage: (input: Input) => sign('signMessage', input, input.message) },
      'solana:signAndSendTransaction': {
        signAndSendTransaction: (input: Input) =>
          sign('signAndSendTransaction', input, input.transaction, input.chain),
      },
    },
  };
  const register = ({ register }: { register(...wallets: unknown[]): void }) =>
    register(null, { name: 1 }, wallet);
  window.addEventListener('wallet-standard:app-ready', (event) => register((event as CustomEvent).detail));
  window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }));
}
