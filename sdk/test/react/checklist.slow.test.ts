import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  decline,
  expectDone,
  row,
  shoot,
  startTestApp,
  submitIdentity,
  type TestApp,
  verifyIdentity,
} from './test-app.ts';

const PATH = '?view=offer&slug=harbour-quarter&option=accredited&section=checklist';
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
}, 180_000);
afterAll(() => app?.close());

describe('the requirements checklist', () => {
  test('takes a new user through identity, documents and wallets', async () => {
    await app.visit(PATH, async ({ page, email }) => {
      await page.getByText('0 of 7 done. About 4 min left.').waitFor();
      // One step is open; the others show only their names.
      await page.getByRole('button', { name: 'Start verification' }).first().waitFor();
      expect(await page.getByRole('button', { name: 'Start verification' }).count()).toBe(1);
      await page.getByRole('button', { name: 'Sign your tax form' }).click();
      await page.getByRole('button', { name: 'Fill in the form' }).waitFor();
      expect(await page.getByRole('button', { name: 'Start verification' }).count()).toBe(0);
      await page.getByRole('button', { name: 'Confirm who you are' }).click();
      await shoot(page, 'checklist-start');
      await verifyIdentity(page, 'identity_verification');
      // Finishing a step starts the next one.
      for (const type of ['identity_verification', 'kyc_approved', 'accreditation']) {
        await expectDone(page, type);
        if (type !== 'accreditation') await submitIdentity(page);
      }
      await expectDone(page, 'jurisdiction');
      await page.getByRole('dialog', { name: 'Connect wallet' }).waitFor();
      await shoot(page, 'wallets-dialog');
      // A step that the user closes does not reopen by itself.
      await page.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      await row(page, 'external_wallet').getByRole('button', { name: 'Connect wallet' }).click();
      await page.getByRole('button', { name: 'Test wallet', exact: true }).click();
      await expectDone(page, 'external_wallet');
      await expectDone(page, 'whitelisted_wallet');
      const name = page.getByLabel('Full legal name');
      expect(await name.inputValue()).not.toBe('');
      await expect.poll(() => name.evaluate((input) => input === document.activeElement)).toBe(true);
      expect(await page.getByLabel('Signature').inputValue()).toBe('');
      await page.getByLabel('Signature').fill('Ada Investor');
      await shoot(page, 'document-form');
      await page.getByRole('button', { name: 'Email me the form' }).click();
      await page.getByText('We emailed you a link').waitFor();
      await shoot(page, 'checklist-waiting');
      const actOnForm = (action: string) =>
        app.sandbox.control('POST', '/sandbox/documents/actions', {
          ...{ email, action },
          document_type: 'tax_certification',
        });
      await actOnForm('decline');
      await page.getByText('You declined the form').waitFor();
      await row(page, 'document').getByRole('button', { name: 'Start a new form' }).click();
      await page.getByLabel('Signature').fill('Ada Investor');
      await page.getByRole('button', { name: 'Email me the form' }).click();
      await page.getByText('We emailed you a link').waitFor();
      await actOnForm('sign');
      await page.getByText('All done. You can invest now.').waitFor();
      await shoot(page, 'checklist-done');
    });
  }, 120_000);

  test('records which version of a document the user has read', async () => {
    const { partner } = (await app.sandbox.control('GET', '/sandbox')) as { partner: { client_id: string } };
    const offerWith = (version: string) => ({
      ...{ slug: 'disclosed', type: 'platform::token_sale', name: 'A fine asset', tagline: 'Own a share' },
      ...{ logo_url: 'https://assets.test/logo.svg', banner_url: 'https://assets.test/banner.svg' },
      ...{ asset: 'usd-coin', funding_assets: ['usd-coin'], partners: [partner.client_id] },
      options: [
        {
          slug: 'only',
          requirements: [
            {
              type: 'acknowledgement',
              details: {
                ...{ document: 'risks', name: 'Risk disclosure', version },
                url: `https://issuer.test/risks-${version}.pdf`,
                sha256: version.repeat(64),
              },
            },
          ],
        },
      ],
      assets: { 'usd-coin': { code: 'USDC', name: 'USD Coin', fractional_digits: 6 } },
    });
    await app.sandbox.applyOffer(offerWith('1'));
    await app.sandbox.publishOffer('disclosed');
    await app.visit('?view=offer&slug=disclosed&section=checklist', async ({ page }) => {
      const box = page.getByRole('checkbox');
      await page.getByText("I've read Risk disclosure (version 1).").waitFor();
      expect(await page.getByRole('link', { name: 'Risk disclosure' }).getAttribute('href')).toBe(
        'https://issuer.test/risks-1.pdf',
      );
      await shoot(page, 'acknowledgement');
      // An outdated version is not recorded: the user must read the new one first.
      await app.sandbox.applyOffer(offerWith('2'));
      await box.click();
      await page.getByText("I've read Risk disclosure (version 2).").waitFor();
      await page.getByText('This document has changed').waitFor();
      expect(await box.isChecked()).toBe(false);
      // The keyboard focus stays where it is.
      expect(await box.evaluate((input) => input === document.activeElement)).toBe(true);
      await box.click();
      await page.getByText('All done. You can invest now.').waitFor();
    });
  });

  describe('shows a status that changes elsewhere', () => {
    /** Opens the checklist, stops the page's clock (and so all polling), and completes the first requirement. */
    const changeStatus = async (page: Page, email: string) => {
      await page.clock.install();
      await page.goto(`${app.server.url}/${PATH}`);
      await page.getByText('0 of 7 done').waitFor();
      await page.clock.pauseAt(Date.now() + 2_000);
      const review = { email, level_name: 'Sorting_KYC_Level', answer: 'GREEN' };
      await app.sandbox.control('POST', '/sandbox/identity/reviews', review);
    };

    test('as soon as the event stream reports it', async () => {
      await app.visit('?view=sign-in', async ({ page, email }) => {
        const opened = page.waitForResponse('**/v1/events/stream');
        await changeStatus(page, email);
        expect((await opened).status()).toBe(200);
        await expectDone(page, 'identity_verification');
      });
    });

    test('by polling if there is no stream', async () => {
      await app.visit('?view=sign-in', async ({ page, email }) => {
        await page.route('**/v1/events/stream', (route) => route.abort());
        await changeStatus(page, email);
        await page.clock.runFor(15_000);
        await expectDone(page, 'identity_verification');
      });
    });
  });

  test('offers to load a step again that the browser could not load', async () => {
    await app.look(null, async ({ page }) => {
      let isOffline = true;
      await page.route('**/late-parts-*.js', (route) => (isOffline ? route.abort() : route.continue()));
      await page.goto(`${app.server.url}/${PATH}`);
      const step = row(page, 'identity_verification');
      await step.getByText("This part of the page didn't load").waitFor();
      await shoot(page, 'checklist-not-loaded');
      const failed = page.waitForEvent('requestfailed', (one) => one.url().includes('late-parts'));
      await step.getByRole('button', { name: 'Try again' }).click();
      await failed;
      await step.getByText("This part of the page didn't load").waitFor();
      isOffline = false;
      await step.getByRole('button', { name: 'Try again' }).click();
      await step.getByRole('button', { name: 'Start verification' }).waitFor();
      expect(await step.getByRole('alert').count()).toBe(0);
    });
  });

  test('explains a final rejection and a country that is not allowed', async () => {
    await app.visit(PATH, async ({ page, email }) => {
      await page.getByText('0 of 7 done').waitFor();
      const review = (level_name: string, more: object) =>
        app.sandbox.control('POST', '/sandbox/identity/reviews', { email, level_name, ...more });
      const address = { street: 's', city: 'c', state: '', postal_code: '1', country: 'CU' };
      const person = { first_name: 'A', last_name: 'B', date_of_birth: '1990-01-01', tax_id: '1', address };
      await review('Sorting_KYC_Level', { answer: 'GREEN', pii: person });
      await page.reload();
      await row(page, 'jurisdiction').getByText("This offer isn't available where you live").waitFor();
      await review('BasicKYCLevel', { answer: 'RED', reject_type: 'FINAL' });
      await page.reload();
      await row(page, 'kyc_approved').getByText('this decision is final').waitFor();
      await page.getByText("You can't invest in this option.").waitFor();
      await shoot(page, 'checklist-rejected');
    });
  });

  test('puts what stops the user first, and offers nothing that would be refused', async () => {
    await app.visit('?view=offer&slug=harbour-quarter&option=accredited', async ({ page, userId }) => {
      await page.getByText('0 of 7 done').waitFor();
      await page.getByRole('button', { name: 'Start verification' }).first().waitFor();
      await app.sandbox.control('POST', `/sandbox/users/${userId}/hold`, { reason: 'a secret reason' });
      await page.reload();
      await page.getByText('Your account is restricted. Contact support.').waitFor();
      await page.getByText("You can't invest in this option.").waitFor();
      const contact = page.getByRole('link', { name: 'Contact support' });
      expect(await contact.getAttribute('href')).toBe('mailto:help@app.test');
      expect(await page.locator('.cw-checklist').getByRole('button').count()).toBe(0);
      expect(await page.content()).not.toContain('secret');
      await shoot(page, 'checklist-restricted');
      await app.sandbox.control('POST', `/sandbox/users/${userId}/release`, {});
      await page.reload();
      await page.getByRole('button', { name: 'Start verification' }).first().waitFor();
    });
  });

  test('binds a Solana wallet, and lets a user sign again after declining', async () => {
    await app.visit(
      '?view=offer&slug=harbour-quarter&option=any-wallet&section=checklist',
      async ({ page }) => {
        await page.getByText('0 of 2 done').waitFor();
        await decline(page, 'personal_sign');
        await row(page, 'external_wallet').first().getByRole('button', { name: 'Connect wallet' }).click();
        await page.getByRole('button', { name: 'Test wallet', exact: true }).click();
        await page.getByText('You declined the request in your wallet').waitFor();
        await shoot(page, 'wallet-declined');
        await decline(page, '');
        await page.getByRole('button', { name: 'Sign again' }).click();
        await page.getByText('1 of 2 done').waitFor();
        await page.getByRole('button', { name: 'Solana test wallet' }).click();
        await page.getByText('All done. You can invest now.').waitFor();
      },
    );
  });
});
