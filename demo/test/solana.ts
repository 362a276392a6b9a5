import { expect, test } from 'vitest';
import { shoot, type TestApp } from './test-app.ts';
import * as user from './user-actions.ts';

/** Tests investing on Solana, from an empty wallet to the refund. */
export function solanaTests(app: () => TestApp): void {
  test('a new user invests on Solana and gets a refund', { timeout: 180_000 }, () =>
    app().visit(async (page) => {
      const investor = await user.newUser(app());
      await user.signIn(app(), page, investor);
      await page.goto(`${app().url}/offers/harbour-quarter/invest?option=public`);
      await page.getByLabel('Network').selectOption({ label: 'Solana Devnet' });
      await page.getByRole('button', { name: 'Connect wallet' }).last().click();
      await user.chooseWallet(page, 'Solana test wallet');
      await user.getTestMoney(page);
      await page.getByText('Balance 10,000 USDC').waitFor();
      await user.fillAmount(page, '120');
      await shoot(page, '30-solana-invest');
      await user.confirmOrder(page, 'Invest');
      await user.approve(page, /Sign this message/);
      await user.approve(page, /spend your tokens/);
      await page.getByText('Payment collected. Your investment is complete.').waitFor({ timeout: 60_000 });
      await page.locator('.cw-timeline a').first().waitFor();
      await shoot(page, '31-solana-invested');

      await page.getByRole('link', { name: 'Portfolio', exact: true }).click();
      await page.getByText('Solana Devnet').first().waitFor();
      await app().post(`/sandbox/participations/${await findParticipation(app(), investor)}/remit`, {});
      await page.getByText('Refunded').first().waitFor({ timeout: 90_000 });
      await shoot(page, '32-solana-refunded');
    }),
  );

  test('a Wallet Standard extension can be connected, and a malformed one is ignored', () =>
    app().visit(async (page) => {
      await page.addInitScript(registerWallets, WALLET_ADDRESS);
      await user.signIn(app(), page, await user.newUser(app()));
      await page.goto(`${app().url}/offers/harbour-quarter/invest?option=public`);
      await page.getByLabel('Network').selectOption({ label: 'Solana Devnet' });
      await page.getByRole('button', { name: 'Connect wallet' }).last().click();
      expect(await page.locator('dialog[open]').getByText('Not a wallet').count()).toBe(0);
      await user.chooseWallet(page, 'Paper Wallet');
      await page.getByTitle(WALLET_ADDRESS).first().waitFor();
    }));
}

const WALLET_ADDRESS = 'PaperPaperPaperPaperPaperPaperPaperPaperPap';

/** Registers wallets with the page. Runs in the page before the page's own scripts. */
function registerWallets(address: string): void {
  const account = { address, chains: ['solana:devnet'] };
  const features = {
    'standard:connect': { connect: async () => ({ accounts: [account] }) },
    'solana:signMessage': { signMessage: async () => [] },
  };
  const wallets = [{ name: 'Not a wallet' }, { name: 'Paper Wallet', icon: '', features }];
  type Api = { register(...wallets: unknown[]): void };
  window.addEventListener('wallet-standard:app-ready', (event) =>
    (event as CustomEvent<Api>).detail.register(...wallets),
  );
}

async function findParticipation(app: TestApp, { email }: user.User): Promise<string> {
  const { access_token } = await app.post('/sandbox/token', { email });
  const reply = await fetch(`${app.service().url}/v1/participations`, {
    headers: { authorization: `Bearer ${access_token}` },
  });
  const { data } = (await reply.json()) as { data: [{ id: string }] };
  return data[0].id;
}
