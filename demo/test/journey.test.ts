import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { failureTests } from './failures.ts';
import { otherWalletTests } from './other-wallets.ts';
import { screenStateTests } from './screen-states.ts';
import { solanaTests } from './solana.ts';
import { shoot, startTestApp, type TestApp } from './test-app.ts';
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
      app.visit(async (page, context) => {
        await page.goto(app.url);
        await page.getByRole('heading', { name: 'Invest in what you can see.' }).waitFor();
        await page.getByText('Own a share of a working harbour').waitFor();
        await shoot(page, '01-landing');

        const email = 'investor@demo.test';
        await user.register(app, page, context, email);
        await page.getByRole('heading', { name: 'Harbour Invest wants to access your account' }).waitFor();
        await page.getByRole('button', { name: 'Allow' }).click();
        await page
          .getByRole('link', { name: /Harbour Quarter|working harbour/ })
          .first()
          .waitFor();
        await shoot(page, '02-offers');
        await page.goto(`${app.url}/participations`);
        await page.getByText("You haven't invested yet.").waitFor();
        await shoot(page, '03-no-investments');

        const stream = page.waitForResponse('**/v1/events/stream');
        await page.goto(`${app.url}/offers/harbour-quarter?option=accredited`);
        expect((await stream).status()).toBe(200);
        for (const type of ['identity_verification', 'kyc_approved', 'accreditation', 'document'])
          await user.expectRequirement(page, type, 'not_started');
        await shoot(page, '04-offer');
        await user.verify(page, 'identity_verification');
        await user.expectRequirement(page, 'identity_verification', 'completed');
        await user.verify(page, 'kyc_approved');
        await user.expectRequirement(page, 'kyc_approved', 'completed');
        await user.verify(page, 'accreditation');
        for (const type of ['accreditation', 'jurisdiction'])
          await user.expectRequirement(page, type, 'completed');
        await user.signForm(app, page, context);
        await user.expectRequirement(page, 'document', 'completed');

        await user
          .requirement(page, 'external_wallet')
          .getByRole('button', { name: 'Connect wallet' })
          .click();
        await shoot(page, '05-connect-wallet', { fullPage: false });
        await user.chooseWallet(page, 'Test wallet');
        await user.walletPrompt(page).waitFor();
        await shoot(page, '06-wallet-prompt', { fullPage: false });
        await user.approve(page, /Sign this message/);
        for (const type of ['external_wallet', 'whitelisted_wallet'])
          await user.expectRequirement(page, type, 'completed');
        await page.getByText('All done. You can invest now.').first().waitFor();
        await shoot(page, '07-all-done');

        await page.getByRole('link', { name: 'Invest', exact: true }).click();
        await user.getTestMoney(page);
        await user.fillAmount(page, '1500');
        await shoot(page, '08-invest');
        await page.getByRole('button', { name: 'Invest', exact: true }).click();
        await user.approve(page, /spend your tokens/);
        await page.getByText('Payment collected. Your investment is complete.').waitFor({ timeout: 60_000 });
        await shoot(page, '09-invested');

        await page.getByRole('link', { name: 'Investments', exact: true }).click();
        await page.getByText('Completed').waitFor();
        await page.getByText('1,500').first().waitFor();
        await shoot(page, '10-investments');

        await page.goto(`${app.url}/offers/treasury-fund/invest`);
        await page.getByRole('button', { name: 'Allow this wallet' }).click();
        await user.approve(page, /Sign this message/);
        await user.approve(page, /Send this transaction/);
        await user.fillAmount(page, '500');
        await page.getByText('CTF').last().waitFor();
        await shoot(page, '11-fund');
        await page.getByRole('button', { name: 'Swap', exact: true }).click();
        await user.approve(page, /spend your tokens/);
        await user.approve(page, /Send this transaction/);
        await page.getByText(/You received .* CTF/).waitFor({ timeout: 60_000 });
        await shoot(page, '12-fund-done');

        await page.goto(`${app.url}/offers/apple-tokenized/invest`);
        await user.fillAmount(page, '250');
        await expect.poll(() => page.locator('.chart .line').count()).toBe(1);
        await shoot(page, '13-trade');
        await page.getByRole('button', { name: 'Buy AAPLon' }).click();
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
        await page.getByText('read and sign the form').first().waitFor();
        await shoot(page, '16-mail');
        await page.goto(`${app.url}/tools`);
        await shoot(page, '17-tools');

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
