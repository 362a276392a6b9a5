import { createTestWallet } from '@causeway/sdk/testing';
import type { Page } from 'playwright-core';
import { generatePrivateKey } from 'viem/accounts';
import { describe, test } from 'vitest';
import * as person from './person.ts';
import type { World } from './world.ts';

type Chains = { chains: { chain_id: number; rpc_url: string }[] };

/** A wallet as an extension is: it announces itself (EIP-6963) and signs outside of the page. Gives its address. */
async function inject(world: World, page: Page, name: string): Promise<string> {
  const { chains } = (await (await fetch(`${world.service().url}/sandbox`)).json()) as Chains;
  const rpcUrls = Object.fromEntries(chains.map(({ chain_id, rpc_url }) => [chain_id, rpc_url]));
  const wallet = createTestWallet({ privateKey: generatePrivateKey(), rpcUrls });
  await page.exposeFunction('askExtension', (call: { method: string }) => wallet.provider.request(call));
  await page.addInitScript((called) => {
    const { askExtension } = window as unknown as { askExtension(call: object): Promise<unknown> };
    const provider = {
      request: (call: object) => askExtension(call),
      on: () => {},
      removeListener: () => {},
    };
    const info = {
      uuid: crypto.randomUUID(),
      name: called,
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

export function otherWallets(world: () => World): void {
  describe('wallets beside the built-in one', { timeout: 180_000 }, () => {
    test("an extension's and one of Solana are bound, and listed", () =>
      world().visit(async (page) => {
        const address = await inject(world(), page, 'Fox');
        await person.signIn(world(), page, await person.newUser(world()));
        await page.goto(`${world().url}/offers/harbour-quarter?option=any-wallet`);
        const [evm, solana] = [0, 1].map((place) => person.requirement(page, 'external_wallet').nth(place));
        await evm?.getByRole('button', { name: 'Connect a wallet' }).click();
        await person.chooseWallet(page, 'Fox');
        await page.locator('[data-requirement="external_wallet"][data-status="completed"]').first().waitFor();
        await solana?.getByRole('button', { name: 'Connect a wallet' }).click();
        await person.chooseWallet(page, 'Solana test wallet');
        await person.approve(page, /Sign this message/);
        await page.getByText('All done. You can invest now.').first().waitFor();
        await page.goto(`${world().url}/wallets`);
        await page.getByText(address.slice(0, 6)).first().waitFor();
        await page.getByText('Solana').first().waitFor();
      }));
  });
}
