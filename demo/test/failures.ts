import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { shoot, type TestApp } from './test-app.ts';
import * as user from './user-actions.ts';

/** Opens an offer's checkout as a signed-in user with a wallet and test money. */
async function openCheckout(app: TestApp, page: Page, path: string): Promise<void> {
  await user.signIn(app, page, await user.newUser(app));
  await user.connectWallet(page);
  await page.goto(`${app.url}/offers/${path}`);
  await user.getTestMoney(page);
}

export function failureTests(app: () => TestApp): void {
  describe.concurrent('failures are explained and can be resolved', { timeout: 180_000 }, () => {
    test('denying consent shares nothing and says so', () =>
      app().visit(async (page) => {
        const { email, password } = await user.newUser(app());
        await user.openSignIn(app(), page);
        await page.getByLabel('Email').fill(email);
        await page.getByLabel('Password').fill(password);
        await page.getByRole('button', { name: 'Sign in', exact: true }).click();
        await page.getByRole('button', { name: 'Deny' }).click();
        await page.getByText("You didn't give Harbour Invest access to your account").waitFor();
        await shoot(page, '20-denied');
      }));

    test('a country that is not allowed blocks investing and says so', () =>
      app().visit(async (page) => {
        await user.signIn(app(), page, await user.newUser(app()));
        await page.goto(`${app().url}/offers/harbour-quarter?option=accredited`);
        await user.verify(page, 'identity_verification', { country: 'IR' });
        await user.expectRequirement(page, 'jurisdiction', 'rejected');
        await page.getByText("This offer isn't available where you live").waitFor();
        await page.getByText("You can't invest in this option.").waitFor();
        // The page must not offer an action that the service would reject.
        expect(await page.locator('.offer-side .button.main').count()).toBe(0);
        expect(await page.locator('.cw-checklist').getByRole('button').count()).toBe(0);
        await page.goto(`${app().url}/offers/harbour-quarter/invest?option=accredited`);
        await page.getByText("You can't invest in this option.").waitFor();
        expect(await page.getByLabel('Amount', { exact: true }).count()).toBe(0);
      }));

    test('a final rejection blocks investing and says so', () =>
      app().visit(async (page) => {
        await user.signIn(app(), page, await user.newUser(app()));
        await page.goto(`${app().url}/offers/harbour-quarter?option=accredited`);
        await user.verify(page, 'kyc_approved', { outcome: 'Reject permanently' });
        await page.getByText('this decision is final').first().waitFor();
        await page.getByText("You can't invest in this option.").waitFor();
        await shoot(page, '21-rejected');
      }));

    test('a review left open is decided in the sandbox panel', () =>
      app().visit(async (page) => {
        await user.signIn(app(), page, await user.newUser(app()));
        await page.goto(`${app().url}/offers/harbour-quarter?option=accredited`);
        await user.verify(page, 'identity_verification', { outcome: 'Leave under review' });
        await user.expectRequirement(page, 'identity_verification', 'in_progress');
        await user.inSandboxPanel(page, async (panel) => {
          await panel.getByRole('button', { name: 'Approve' }).click();
          await panel.getByText('Decided: Approve.').waitFor();
          await shoot(page, '27-sandbox-panel', { fullPage: false });
        });
        await user.expectRequirement(page, 'identity_verification', 'completed');
      }));

    test('an account on hold is offered nothing but a contact, and never learns why', () =>
      app().visit(async (page) => {
        const held = await user.newUser(app());
        await user.signIn(app(), page, held);
        await app().post(`/sandbox/users/${held.id}/hold`, { reason: 'a secret reason' });
        await page.goto(`${app().url}/offers/harbour-quarter?option=public`);
        await page.getByText('Your account is restricted.').waitFor();
        const contact = page.getByRole('link', { name: 'Contact support' });
        expect(await contact.getAttribute('href')).toMatch(/^mailto:/);
        expect(await page.locator('.offer-side .button.main').count()).toBe(0);
        await shoot(page, '21-restricted');
        await page.goto(`${app().url}/offers/harbour-quarter/invest?option=public`);
        await page.getByText('Your account is restricted.').waitFor();
        expect(await page.getByLabel('Amount', { exact: true }).count()).toBe(0);
        expect(await page.content()).not.toContain('secret');
      }));

    test('a declined signature binds no wallet, and the user can sign again', () =>
      app().visit(async (page) => {
        await user.signIn(app(), page, await user.newUser(app()));
        await page.goto(`${app().url}/offers/harbour-quarter?option=any-wallet`);
        const row = page.locator('[data-requirement="external_wallet"]').first();
        await row.getByRole('button', { name: 'Connect wallet' }).click();
        await user.chooseWallet(page, 'Test wallet');
        await user.reject(page);
        await row.getByText('You declined the request in your wallet').waitFor();
        expect(await row.getAttribute('data-status')).toBe('not_started');
        expect(await row.getByRole('button').allInnerTexts()).toEqual([
          'Sign again',
          'Use a different wallet',
        ]);
        await shoot(page, '22-wallet-declined');
        await row.getByRole('button', { name: 'Sign again' }).click();
        await user.approve(page, /Sign this message/);
        const bound = page.locator('[data-requirement="external_wallet"][data-status="completed"]');
        await bound.first().waitFor();

        await user.chooseWallet(page, 'Solana test wallet');
        await user.approve(page, /Sign this message/);
        await bound.nth(1).waitFor();
      }));

    test('an allowance reduced in the wallet is detected before the purchase', () =>
      app().visit(async (page) => {
        await openCheckout(app(), page, 'harbour-quarter/invest?option=public');
        await user.fillAmount(page, '200');
        await user.confirmOrder(page, 'Invest');
        await user.approve(page, /Sign this message/);
        await user.approve(page, /spend your tokens/, '150');
        await page
          .getByRole('alert')
          .filter({ hasText: /allow|approv/i })
          .first()
          .waitFor();
        await shoot(page, '24-allowance-short');
        await page.getByRole('button', { name: /Try again|Continue/ }).click();
        await user.approve(page, /spend your tokens/);
        await page.getByText('Your investment is complete.').waitFor({ timeout: 60_000 });
      }));

    test('an order approved after it expired is not sent, and a new one can be placed', () =>
      app().visit(async (page) => {
        await openCheckout(app(), page, 'apple-tokenized/invest');
        await user.fillAmount(page, '100');
        await user.confirmOrder(page, 'Buy AAPLon');
        await user.approve(page, /Sign this message/);
        await user.approve(page, /spend your tokens/);
        await user
          .walletPrompt(page)
          .getByRole('heading', { name: /Send this transaction/ })
          .waitFor();
        await page.getByText('This price has expired.').waitFor({ timeout: 90_000, state: 'attached' });
        // Waits a few more seconds, because block timestamps are in whole seconds and lag behind the clock on a busy
        // machine.
        await page.waitForTimeout(6_000);
        await user.approve(page, /Send this transaction/);
        await page.getByRole('alert').filter({ hasText: 'expired' }).first().waitFor();
        await shoot(page, '25-order-expired');
        await page.getByRole('button', { name: 'Try again' }).click();
        await user.approve(page, /Send this transaction/);
        await page.getByText(/You received .* AAPLon/).waitFor({ timeout: 60_000 });
      }));
  });

  describe('failures that affect every user', { timeout: 180_000 }, () => {
    test('a closed market disables buying, and the page notices when it reopens', () =>
      app().visit(async (page) => {
        await openCheckout(app(), page, 'apple-tokenized/invest');
        await user.inSandboxPanel(page, (panel) =>
          panel.getByRole('button', { name: 'Closed', exact: true }).click(),
        );
        const buy = page.getByRole('button', { name: 'Review order' });
        await page.getByText(/We'll update this page automatically/).waitFor();
        expect(await buy.isDisabled()).toBe(true);
        await shoot(page, '23-market-closed');
        await app().post('/sandbox/venue', { session: 'regular' });
        await user.fillAmount(page, '100');
        await expect.poll(() => buy.isEnabled()).toBe(true);
      }));

    test('a purchase survives a service that is killed and restarted in the middle', () =>
      app().visit(async (page) => {
        await openCheckout(app(), page, 'harbour-quarter/invest?option=public');
        await user.fillAmount(page, '300');
        await user.confirmOrder(page, 'Invest');
        await user.approve(page, /Sign this message/);
        await user.walletPrompt(page).waitFor();
        await app().kill();
        const banner = page.getByText("We can't reach Causeway.");
        await banner.waitFor({ timeout: 60_000 });
        await shoot(page, '26-unreachable', { fullPage: false });
        await app().restart();
        await banner.waitFor({ state: 'detached', timeout: 60_000 });
        await user.approve(page, /spend your tokens/);
        await page.getByText('Your investment is complete.').waitFor({ timeout: 60_000 });
        await page.getByRole('link', { name: 'Portfolio', exact: true }).click();
        await page.getByText('300 USDC').first().waitFor();
      }));
  });
}
