import { createTestWallet } from '@causeway/sdk/testing';
import type { Page } from 'playwright-core';
import { generatePrivateKey } from 'viem/accounts';
import { describe, test } from 'vitest';
import type { TestApp } from './test-app.ts';
import * as user from './user-actions.ts';

type Chains = { chains: { chain_id: number; rpc_url: string }[] };

/** Adds a wallet extension that announces itself (EIP-6963) and signs outside the page. Returns its wallet address. */
async function injectExtension(app: TestApp, page: Page, name: string): Promise<string> {
  const { chains } = (await (await fetch(`${app.service().url}/sandbox`)).json()) as Chains;
  const rpcUrls = Object.fromEntries(chains.map(({ chain_id, rpc_url }) => [chain_id, rpc_url]));
  const wallet = createTestWallet({ privateKey: generatePrivateKey(), rpcUrls });
  await page.exposeFunction('callExtension', (call: { method: string }) => wallet.provider.request(call));
  await page.addInitScript((extensionName) => {
    const { callExtension } = window as unknown as { callExtension(call: object): Promise<unknown> };
    const provider = {
      request: (call: object) => callExtension(call),
      on: () => {},
      removeListener: () => {},
    };
    const info = {
      uuid: crypto.randomUUID(),
      name: extensionName,
      icon: 'data:image/svg+xml,<svg/>',
      rdns: 'test.fox',
    };
    const announce = () =>
      window.dispatchEvent(
        new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }),
      );
    window.addEventListener('eip6963:requestProvider', announce);
  }, name);
  return wallet.address.toLowerCase();
}

export function otherWalletTests(app: () => TestApp): void {
  describe('wallets other than the built-in one', { timeout: 180_000 }, () => {
    test('an extension and a Solana wallet can be connected and are listed', () =>
      app().visit(async (page) => {
        const address = await injectExtension(app(), page, 'Fox');
        await user.signIn(app(), page, await user.newUser(app()));
        await page.goto(`${app().url}/offers/harbour-quarter?option=any-wallet`);
        const evm = user.requirement(page, 'external_wallet').first();
        await evm.getByRole('button', { name: 'Connect wallet' }).click();
        await user.chooseWallet(page, 'Fox');
        await page.locator('[data-requirement="external_wallet"][data-status="completed"]').first().waitFor();
        // The dialog for the next requirement, a Solana wallet, opens by itself.
        await user.chooseWallet(page, 'Solana test wallet');
        await user.approve(page, /Sign this message/);
        await page.getByText('All done. You can invest now.').first().waitFor();
        await page.goto(`${app().url}/wallets`);
        await page.getByText(address.slice(0, 6)).first().waitFor();
        await page.getByText('Solana').first().waitFor();
      }));
  });
}
