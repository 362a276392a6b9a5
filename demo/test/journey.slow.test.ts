import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { failureTests } from './failures.ts';
import { otherWalletTests } from './other-wallets.ts';
import { screenStateTests } from './screen-states.ts';
import { solanaTests } from './solana.ts';
import { shoot, startStopwatch, startTestApp, type TestApp } from './test-app.ts';
import * as user from './user-actions.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  // Keeps the market open regardless of when the tests run.
  await app.post('/sandbox/venue', { session: 'regular' });
}, 240_000);
afterAll(() => app?.close());

describe('a new user', () => {
  test(
    'registers, consents, is verified, signs, connects a wallet, invests, swaps and trades',
    { timeout: 300_000 },
    () =>
      app.visit(async (landing, context) => {
        const readStopwatch = await startStopwatch(context);
        await landing.goto(app.url);
        await landing.getByRole('heading', { name: 'Invest in what you can see.' }).waitFor();
        const preview = landing.getByRole('link', { name: 'Own a share of a working harbour' });
        await preview.waitFor();
        await shoot(landing, '01-landing');
        await preview.click();

        // Up to the investment, the user only clicks and types. The test opens no URL to skip a step.
        const { page, mailbox } = await user.register(landing, 'investor@demo.test');
        await page.getByRole('heading', { name: 'Harbour Invest wants to access your account' }).waitFor();
        const stream = page.waitForResponse('**/v1/events/stream');
        await page.getByRole('button', { name: 'Allow' }).click();
        await page.getByRole('radio', { name: /Accredited/ }).click();
        expect((await stream).status()).toBe(200);
        for (const type of ['identity_verification', 'kyc_approved', 'accreditation', 'document'])
          await user.expectRequirement(page, type, 'not_started');
        // The country is unknown until the identity check, so the user has nothing to fix yet.
        expect(await page.getByText('Action needed').count()).toBe(0);
        const start = page.getByRole('button', { name: 'Start: 7 steps, about 4 minutes' });
        await start.waitFor();
        await shoot(page, '04-offer');
        // Completing a step opens the next one.
        await start.click();
        for (const type of ['identity_verification', 'kyc_approved', 'accreditation']) {
          await user.submitIdentity(page);
          await user.expectRequirement(page, type, 'completed');
        }
        await user.expectRequirement(page, 'jurisdiction', 'completed');
        await page.getByRole('dialog', { name: 'Connect wallet' }).waitFor();
        await shoot(page, '05-connect-wallet', { fullPage: false });
        await user.chooseWallet(page, 'Test wallet');
        await user.walletPrompt(page).waitFor();
        await shoot(page, '06-wallet-prompt', { fullPage: false });
        await user.approve(page, /Sign this message/);
        for (const type of ['external_wallet', 'whitelisted_wallet'])
          await user.expectRequirement(page, type, 'completed');
        await page.getByRole('button', { name: 'Email me the form' }).waitFor();
        await shoot(page, '07-tax-form');
        await user.signForm(page, mailbox);

        await page.getByText('Balance 10,000 USDC').waitFor();
        await user.fillAmount(page, '1500');
        await shoot(page, '08-invest');
        await user.confirmOrder(page, 'Invest');
        await user.approve(page, /spend your tokens/);
        await page.getByText('Payment collected. Your investment is complete.').waitFor({ timeout: 60_000 });
        const { seconds, clicks } = readStopwatch();
        console.log(
          `From the landing page to an investment with seven requirements: ${seconds} s, ${clicks} clicks`,
        );
        expect(clicks).toBeLessThan(20);
        await shoot(page, '09-invested');

        await page.getByRole('link', { name: 'Portfolio', exact: true }).click();
        await page.getByText('$1,500.00').first().waitFor();
        await shoot(page, '10-portfolio');

        await page.goto(`${app.url}/offers/treasury-fund/invest`);
        await page.getByRole('button', { name: 'Allow this wallet' }).click();
        await user.approve(page, /Sign this message/);
        await user.approve(page, /Send this transaction/);
        await user.fillAmount(page, '500');
        await page.getByText('CTF').last().waitFor();
        await shoot(page, '11-fund');
        await user.confirmOrder(page, 'Swap');
        await user.approve(page, /spend your tokens/);
        await user.approve(page, /Send this transaction/);
        await page.getByText(/You received .* CTF/).waitFor({ timeout: 60_000 });
        await shoot(page, '12-fund-done');

        await page.goto(`${app.url}/offers/apple-tokenized/invest`);
        await user.fillAmount(page, '250');
        await expect.poll(() => page.locator('.chart .line').count()).toBe(1);
        await shoot(page, '13-trade');
        await user.confirmOrder(page, 'Buy AAPLon');
        await user.approve(page, /spend your tokens/);
        await user.approve(page, /Send this transaction/);
        await page.getByText(/You received .* AAPLon/).waitFor({ timeout: 60_000 });
        await shoot(page, '14-trade-done');

        await page.goto(`${app.url}/wallets`);
        await page
          .getByRole('button', { name: /^Remove/ })
          .first()
          .waitFor();
        await shoot(page, '15-wallets');
        await page.goto(`${app.url}/mail`);
        await page.getByRole('complementary', { name: 'Sandbox' }).waitFor();
        await page.locator('.mails li').first().waitFor();
        await shoot(page, '16-mail', { fullPage: false });
        await page.getByRole('button', { name: 'Close the sandbox panel' }).click();

        // The portfolio has all three kinds of investment, each with the exact amount paid.
        const history = page.locator('.history li');
        await expect.poll(() => history.count()).toBe(3);
        const paid = await page
          .locator('.history-end [title]')
          .evaluateAll((all) => all.map((one) => one.getAttribute('title')));
        expect(paid).toEqual(['250 USDC', '500 USDC', '1,500 USDC']);
        await shoot(page, '17-portfolio');
        const saved = page.waitForEvent('download');
        await page.getByRole('button', { name: 'Download CSV' }).click();
        const csv = readFileSync(await (await saved).path(), 'utf8');
        expect(csv.split('\r\n')).toHaveLength(5);
        await page.getByRole('link', { name: 'Harbour Quarter' }).last().click();
        await expect.poll(() => page.locator('.transactions a').count()).toBe(2);
        await page.getByText('$1.00 per HBQ').waitFor();
        await shoot(page, '19-order');
        const receipt = page.waitForEvent('download');
        await page.getByRole('button', { name: 'Receipt (PDF)' }).click();
        const pdf = readFileSync(await (await receipt).path(), 'latin1');
        expect(pdf).toMatch(/^%PDF-1\.4[\s\S]*\(1500 USDC\)[\s\S]*%%EOF\n$/);

        await page.goto(`${app.url}/offers`);
        await page.getByRole('button', { name: /API calls/ }).click();
        await page
          .getByRole('button', { name: /\/v1\/offers/ })
          .first()
          .click();
        await page.getByRole('button', { name: 'Copy as curl' }).waitFor();
        expect(await page.locator('.drawer').innerText()).not.toMatch(/Bearer ey|access_token/);
        await shoot(page, '18-developer', { fullPage: false });
      }),
  );
});

otherWalletTests(() => app);
solanaTests(() => app);
screenStateTests(() => app);
failureTests(() => app);
