import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import * as person from './person.ts';
import { shoot, type World } from './world.ts';

const investButton = (page: Page) => page.getByRole('button', { name: 'Invest', exact: true });

/** A signed-in user with a wallet and money, at an offer's checkout. */
async function atCheckout(world: World, page: Page, path: string): Promise<void> {
  await person.signIn(world, page, await person.newUser(world));
  await person.connectWallet(page);
  await page.goto(`${world.url}/offers/${path}`);
  await person.getTestMoney(page);
}

export function unhappyWays(world: () => World): void {
  describe.concurrent('what goes wrong is said, and can be put right', { timeout: 180_000 }, () => {
    test('who denies the consent is told that nothing was shared', () =>
      world().visit(async (page) => {
        const user = await person.newUser(world());
        await person.toSignIn(world(), page);
        await page.getByLabel('Email').fill(user.email);
        await page.getByLabel('Password').fill(user.password);
        await page.getByRole('button', { name: 'Sign in', exact: true }).click();
        await page.getByRole('button', { name: 'Deny' }).click();
        await page.getByText('You did not allow Harbour Invest to use your account').waitFor();
        await shoot(page, '20-denied');
      }));

    test('who is rejected for good, or lives in the wrong country, sees it and cannot go on', () =>
      world().visit(async (page) => {
        await person.signIn(world(), page, await person.newUser(world()));
        await page.goto(`${world().url}/offers/harbour-quarter?option=accredited`);
        await person.verify(page, 'identity_verification', { country: 'IR' });
        await person.expectRequirement(page, 'jurisdiction', 'rejected');
        await page.getByText('Your address is in a place where this offer is not available.').waitFor();
        await person.verify(page, 'kyc_approved', { outcome: 'Reject permanently' });
        await person.expectRequirement(page, 'kyc_approved', 'rejected');
        await page.getByText('this decision is final').first().waitFor();
        await shoot(page, '21-rejected');
        await page.getByRole('link', { name: 'Invest', exact: true }).click();
        await page.getByRole('heading', { name: 'Invest in Harbour Quarter' }).waitFor();
        await page.getByText('You cannot take part').first().waitFor();
        expect(await page.getByLabel('Amount', { exact: true }).count()).toBe(0);
      }));

    test('a wallet that refuses to sign binds nothing, and signs when asked again', () =>
      world().visit(async (page) => {
        await person.signIn(world(), page, await person.newUser(world()));
        await page.goto(`${world().url}/offers/harbour-quarter?option=any-wallet`);
        const row = page.locator('[data-requirement="external_wallet"]').first();
        await row.getByRole('button', { name: 'Connect a wallet' }).click();
        await person.chooseWallet(page, 'Test wallet');
        await person.reject(page);
        await row.getByText('You turned the request down in your wallet').waitFor();
        expect(await row.getAttribute('data-status')).toBe('not_started');
        await shoot(page, '22-wallet-refused');
        await row.getByRole('button', { name: 'Sign again' }).click();
        await person.approve(page, /Sign this message/);
        const bound = page.locator('[data-requirement="external_wallet"][data-status="completed"]');
        await bound.first().waitFor();

        const solana = page.locator('[data-requirement="external_wallet"]').nth(1);
        await solana.getByRole('button', { name: 'Connect a wallet' }).click();
        await person.chooseWallet(page, 'Solana test wallet');
        await person.approve(page, /Sign this message/);
        await bound.nth(1).waitFor();
      }));

    test('an allowance that the wallet made smaller is noticed before anything is bought', () =>
      world().visit(async (page) => {
        await atCheckout(world(), page, 'harbour-quarter/invest?option=public');
        await person.fillAmount(page, '200');
        await investButton(page).click();
        await person.approve(page, /spend your tokens/, '150');
        await page
          .getByRole('alert')
          .filter({ hasText: /allow|approv/i })
          .first()
          .waitFor();
        await shoot(page, '24-allowance-short');
        await page.getByRole('button', { name: /Try again|Continue/ }).click();
        await person.approve(page, /spend your tokens/);
        await page.getByText('Your investment is complete.').waitFor({ timeout: 60_000 });
      }));

    test('an order that is approved too late is not sent, and a new one is', () =>
      world().visit(async (page) => {
        await atCheckout(world(), page, 'apple-tokenized/invest');
        await person.fillAmount(page, '100');
        await page.getByRole('button', { name: 'Buy AAPLon' }).click();
        await person.approve(page, /spend your tokens/);
        await person
          .wallet(page)
          .getByRole('heading', { name: /Send this transaction/ })
          .waitFor();
        await page.getByText('This price has expired.').waitFor({ timeout: 90_000, state: 'attached' });
        // The chain counts in whole seconds.
        await page.waitForTimeout(2_500);
        await person.approve(page, /Send this transaction/);
        await page.getByRole('alert').filter({ hasText: 'expired' }).first().waitFor();
        await shoot(page, '25-order-expired');
        await page.getByRole('button', { name: 'Try again' }).click();
        await person.approve(page, /Send this transaction/);
        await page.getByText(/You received .* AAPLon/).waitFor({ timeout: 60_000 });
      }));
  });

  describe('what concerns everybody', { timeout: 180_000 }, () => {
    test('a closed market sells nothing, and is open again by itself', () =>
      world().visit(async (page) => {
        await atCheckout(world(), page, 'apple-tokenized/invest');
        await page.getByRole('button', { name: 'Closed', exact: true }).click();
        const buy = page.getByRole('button', { name: 'Buy AAPLon' });
        await page.getByText(/This page looks again by itself/).waitFor();
        expect(await buy.isDisabled()).toBe(true);
        await shoot(page, '23-market-closed');
        await world().post('/sandbox/venue', { session: 'regular' });
        await person.fillAmount(page, '100');
        await expect.poll(() => buy.isEnabled()).toBe(true);
      }));

    test('a service that is killed and started again in the middle of a purchase does not stop it', () =>
      world().visit(async (page) => {
        await atCheckout(world(), page, 'harbour-quarter/invest?option=public');
        await person.fillAmount(page, '300');
        await investButton(page).click();
        await person.wallet(page).waitFor();
        await world().breakDown();
        const banner = page.getByText('Causeway cannot be reached.');
        await banner.waitFor({ timeout: 60_000 });
        await shoot(page, '26-unreachable', { fullPage: false });
        await world().comeBack();
        await banner.waitFor({ state: 'detached', timeout: 60_000 });
        await person.approve(page, /spend your tokens/);
        await page.getByText('Your investment is complete.').waitFor({ timeout: 60_000 });
        await page.getByRole('link', { name: 'Investments', exact: true }).click();
        await page.getByText('300').first().waitFor();
      }));
  });
}
