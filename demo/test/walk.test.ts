import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as person from './person.ts';
import { statesOfScreens } from './states.ts';
import { unhappyWays } from './unhappy.ts';
import { otherWallets } from './wallets.ts';
import { shoot, startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
  // At night and on Sundays too.
  await world.post('/sandbox/venue', { session: 'regular' });
}, 240_000);
afterAll(() => world?.close());

describe('a new user walks through the whole of it', () => {
  test(
    'registers, consents, is verified, signs, binds a wallet, invests, swaps and trades',
    { timeout: 300_000 },
    () =>
      world.visit(async (page, context) => {
        await page.goto(world.url);
        await page.getByRole('heading', { name: 'Invest in what you can see.' }).waitFor();
        await page.getByText('Own a part of a working harbour').waitFor();
        await shoot(page, '01-landing');

        const email = 'walker@walk.test';
        await person.register(world, page, context, email);
        await page.getByRole('heading', { name: 'Harbour Invest wants to access your account' }).waitFor();
        await page.getByRole('button', { name: 'Allow' }).click();
        await page
          .getByRole('link', { name: /Harbour Quarter|working harbour/ })
          .first()
          .waitFor();
        await shoot(page, '02-offers');
        await page.goto(`${world.url}/participations`);
        await page.getByText('You have not invested yet.').waitFor();
        await shoot(page, '03-no-investments');

        await page.goto(`${world.url}/offers/harbour-quarter?option=accredited`);
        for (const type of ['identity_verification', 'kyc_approved', 'accreditation', 'document'])
          await person.expectRequirement(page, type, 'not_started');
        await shoot(page, '04-offer');
        await person.verify(page, 'identity_verification');
        await person.expectRequirement(page, 'identity_verification', 'completed');
        await person.verify(page, 'kyc_approved');
        await person.expectRequirement(page, 'kyc_approved', 'completed');
        await person.verify(page, 'accreditation');
        for (const type of ['accreditation', 'jurisdiction'])
          await person.expectRequirement(page, type, 'completed');
        await person.signForm(world, page, context);
        await person.expectRequirement(page, 'document', 'completed');

        await person
          .requirement(page, 'external_wallet')
          .getByRole('button', { name: 'Connect a wallet' })
          .click();
        await shoot(page, '05-connect-wallet', { fullPage: false });
        await person.chooseWallet(page, 'Test wallet');
        await person.wallet(page).waitFor();
        await shoot(page, '06-wallet-asks', { fullPage: false });
        await person.approve(page, /Sign this message/);
        for (const type of ['external_wallet', 'whitelisted_wallet'])
          await person.expectRequirement(page, type, 'completed');
        await page.getByText('All done. You can invest now.').first().waitFor();
        await shoot(page, '07-all-done');

        await page.getByRole('link', { name: 'Invest', exact: true }).click();
        await person.getTestMoney(page);
        await person.fillAmount(page, '1500');
        await shoot(page, '08-invest');
        await page.getByRole('button', { name: 'Invest', exact: true }).click();
        await person.approve(page, /spend your tokens/);
        await page
          .getByText('The amount was collected. Your investment is complete.')
          .waitFor({ timeout: 60_000 });
        await shoot(page, '09-invested');

        await page.getByRole('link', { name: 'Investments', exact: true }).click();
        await page.getByText('Completed').waitFor();
        await page.getByText('1,500').first().waitFor();
        await shoot(page, '10-investments');

        await page.goto(`${world.url}/offers/treasury-fund/invest`);
        await page.getByRole('button', { name: 'Allow this wallet' }).click();
        await person.approve(page, /Sign this message/);
        await person.approve(page, /Send this transaction/);
        await person.fillAmount(page, '500');
        await page.getByText('CTF').last().waitFor();
        await shoot(page, '11-fund');
        await page.getByRole('button', { name: 'Swap', exact: true }).click();
        await person.approve(page, /spend your tokens/);
        await person.approve(page, /Send this transaction/);
        await page.getByText(/You received .* CTF/).waitFor({ timeout: 60_000 });
        await shoot(page, '12-fund-done');

        await page.goto(`${world.url}/offers/apple-tokenized/invest`);
        await person.fillAmount(page, '250');
        await expect.poll(() => page.locator('.chart .line').count()).toBe(1);
        await shoot(page, '13-trade');
        await page.getByRole('button', { name: 'Buy AAPLon' }).click();
        await person.approve(page, /spend your tokens/);
        await person.approve(page, /Send this transaction/);
        await page.getByText(/You received .* AAPLon/).waitFor({ timeout: 60_000 });
        await shoot(page, '14-trade-done');

        await page.goto(`${world.url}/wallets`);
        await page
          .getByRole('button', { name: /^Remove/ })
          .first()
          .waitFor();
        await shoot(page, '15-wallets');
        await page.goto(`${world.url}/mail`);
        await page.getByText('read and sign the form').first().waitFor();
        await shoot(page, '16-mail');
        await page.goto(`${world.url}/tools`);
        await shoot(page, '17-tools');

        await page.goto(`${world.url}/offers`);
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

otherWallets(() => world);
statesOfScreens(() => world);
unhappyWays(() => world);
