import { expect, test } from 'vitest';
import type { Causeway } from '../client.ts';
import type { Chain } from '../wire.ts';
import { requestChallenge, type SiweFields } from './proof.ts';

const WALLET = '0x00000000000000000000000000000000000000Aa';
const PHANTOM = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
const SIWE = { domain: 'app.example', uri: 'https://app.example/invest' };
const signIn = (domain: string, uri: string, account = WALLET, protocol = 'Ethereum') =>
  [
    `${domain} wants you to sign in with your ${protocol} account:`,
    account,
    '',
    'Hello.',
    '',
    `URI: ${uri}`,
  ].join('\n');

/** Returns the message, or the error code if the message was refused. */
function ask(message: string, request: { address?: string; chain?: Chain; siwe?: SiweFields } = {}) {
  const causeway = { wallets: { challenge: async () => ({ message }) } } as unknown as Causeway;
  const complete = { address: WALLET, chain: 'ethereum_mainnet' as const, ...request };
  return requestChallenge(causeway, complete, undefined).catch((error) => error.code);
}

test('a challenge that names the wallet is shown for signing', async () => {
  const plain = `Partner asks you to prove that you own this wallet.\n\nWallet: ${WALLET.toLowerCase()}`;
  expect(await ask(plain)).toBe(plain);
  const siwe = signIn(SIWE.domain, SIWE.uri);
  expect(await ask(siwe, { siwe: SIWE })).toBe(siwe);
  const solana = signIn('app.example', 'https://app.example', PHANTOM, 'Solana');
  expect(await ask(solana, { address: PHANTOM, chain: 'solana_mainnet' })).toBe(solana);
});

test.each<[string, string, Parameters<typeof ask>[1]]>([
  ['names another wallet', `Wallet: 0x${'d1'.repeat(20)}`, {}],
  ['is empty', '', {}],
  ['signs in to a site', signIn('exchange.example', 'https://exchange.example'), {}],
  [
    'signs in to a site after other text',
    `Welcome!\n${signIn('exchange.example', 'https://exchange.example')}`,
    {},
  ],
  ['signs in to another site', signIn('exchange.example', SIWE.uri), { siwe: SIWE }],
  ['names another page', signIn(SIWE.domain, 'https://exchange.example'), { siwe: SIWE }],
  ['has bytes that are not text', `\u0001\u0000\u0001${WALLET}`, {}],
  ['has bytes that are not text', `\u0001${PHANTOM}`, { address: PHANTOM, chain: 'solana_mainnet' }],
  ['names another wallet', `Wallet: ${PHANTOM.toLowerCase()}`, { address: PHANTOM, chain: 'solana_mainnet' }],
])('a challenge that %s is refused before the wallet shows it: %j', async (_what, message, request) => {
  expect(await ask(message, request)).toBe('message_refused');
});
