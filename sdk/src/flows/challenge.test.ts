import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  type MessageFacts,
  openingSentence,
  plainMessage,
  signInMessage,
} from '../../../service/src/domain/proofs/message.ts';
import type { Causeway } from '../client.ts';
import { CausewayError } from '../error.ts';
import type { Chain } from '../wire.ts';
import { requestChallenge } from './challenge.ts';
import type { FlowOptions } from './flow.ts';

const WALLET = '0x00000000000000000000000000000000000000aa';
const OTHER_WALLET = '0x00000000000000000000000000000000000000BB';
const PHANTOM = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
const SIWE = { domain: 'app.example', uri: 'https://app.example' };
const FACTS: MessageFacts = {
  ...{ address: WALLET, chain: 'ethereum_mainnet', partner: 'Harbour Invest (EU)', account: '0K3MZ7QW' },
  nonce: '0a1b2c3d4e5f6g7h8i9j0k1l2',
  issuedAt: '2026-03-02T12:00:00.000Z',
  expiresAt: '2026-03-02T12:10:00.000Z',
};
/** The service's sign-in message. */
const signIn = (
  facts: Partial<MessageFacts> = {},
  { domain, uri, statement = '' } = { ...SIWE, statement: '' },
) =>
  signInMessage(
    { ...FACTS, ...facts },
    { domain, uri, statement: openingSentence({ ...FACTS, ...facts }) + (statement && ` ${statement}`) },
  );
const plain = (facts: Partial<MessageFacts> = {}) => plainMessage({ ...FACTS, ...facts });

type Request = { address?: string; chain?: Chain; siwe?: FlowOptions<never>['siwe'] };
const SOLANA = { address: PHANTOM, chain: 'solana_mainnet' } as const;

function ask(reply: () => Promise<{ message: string }>, request: Request = {}) {
  const sent: object[] = [];
  const challenge = (body: object) => {
    sent.push(body);
    return reply();
  };
  const complete = { address: WALLET, chain: 'ethereum_mainnet' as const, siwe: undefined, ...request };
  const answer = requestChallenge({ wallets: { challenge } } as unknown as Causeway, complete, undefined);
  return { sent, answer };
}

/** Returns the message, or the error code if the message was refused. */
const shown = (message: string, request?: Request) =>
  ask(async () => ({ message }), request).answer.catch((error) => error.code);

afterEach(() => void vi.unstubAllGlobals());
const openPage = (url: string) => vi.stubGlobal('location', new URL(url));

describe('a message of the service is shown for signing', () => {
  test.each<Chain>(['ethereum_mainnet', 'ethereum_sepolia', 'base_mainnet', 'base_sepolia'])(
    'on %s',
    async (chain) => {
      expect(await shown(plain({ chain }), { chain })).toBe(plain({ chain }));
      expect(await shown(signIn({ chain }), { chain, siwe: SIWE })).toBe(signIn({ chain }));
    },
  );

  test.each<Chain>(['solana_mainnet', 'solana_devnet'])('on %s', async (chain) => {
    const message = signIn({ address: PHANTOM, chain });
    expect(await shown(message, { address: PHANTOM, chain, siwe: SIWE })).toBe(message);
  });

  test('with the statement of the app, which Solana messages do not have', async () => {
    const siwe = { ...SIWE, statement: 'Welcome.' };
    expect(await shown(signIn(SOLANA), { ...SOLANA, siwe })).toBe(signIn(SOLANA));
    expect(await shown(signIn({}, siwe), { siwe })).toBe(signIn({}, siwe));
  });
});

describe('the request', () => {
  const bodyOf = async (request: Request) => {
    const { sent, answer } = ask(async () => ({ message: '' }), request);
    await expect(answer).rejects.toThrow();
    return sent[0];
  };
  const page = { challenge_type: 'siwe', domain: 'app.example:8443', uri: 'https://app.example:8443' };

  test('names the page by default', async () => {
    openPage('https://app.example:8443/invest?offer=1');
    expect(await bodyOf({})).toMatchObject(page);
    expect(await bodyOf(SOLANA)).toEqual({ wallet_address: PHANTOM, chain: 'solana_mainnet' });
  });

  test('names what the app passes, on a page and without one', async () => {
    const siwe = { ...SIWE, statement: 'Welcome.' };
    expect(await bodyOf({ siwe })).toMatchObject(siwe);
    openPage('https://elsewhere.example');
    expect(await bodyOf({ siwe })).toMatchObject(siwe);
  });

  test.each([undefined, 'file:///app/index.html', 'about:blank'])(
    'asks for a plain challenge at %s',
    async (url) => {
      if (url !== undefined) openPage(url);
      expect(await bodyOf({})).toEqual({ wallet_address: WALLET, chain: 'ethereum_mainnet' });
    },
  );

  test('asks for a plain challenge on a page if the app opts out', async () => {
    openPage('https://app.example');
    expect(await bodyOf({ siwe: false })).toEqual({ wallet_address: WALLET, chain: 'ethereum_mainnet' });
  });

  test.each([undefined, false] as const)('is not sent on Solana with siwe: %s and no page', async (siwe) => {
    const { sent, answer } = ask(async () => ({ message: '' }), { ...SOLANA, siwe });
    await expect(answer).rejects.toMatchObject({ code: 'invalid_input', message: /`siwe`/ });
    expect(sent).toEqual([]);
  });

  test('says which origin to register if the service refuses the page', async () => {
    openPage('https://app.example');
    const refuse = async () => {
      const errors = { domain: ['must be the host of a registered origin or https redirect URI'] };
      throw new CausewayError({ code: 'validation_failed', status: 422, message: 'Invalid.', errors });
    };
    const error = await ask(refuse).answer.catch((failure) => failure);
    expect(error.code).toBe('validation_failed');
    expect(error.message).toMatch(/https:\/\/app\.example.*partner set-origins/);
    expect(error.info.cause).toBeInstanceOf(CausewayError);
  });
});

describe('a message is refused before the wallet shows it', () => {
  const replaced = (part: string | RegExp, by: string) => (message: string) => {
    expect(message).toMatch(part);
    return message.replace(part, by);
  };
  const EMBEDDED = signIn({}, { domain: 'exchange.example', uri: 'https://exchange.example', statement: '' });
  const WAIT = '2026-03-02T12:';
  const hostile: [string, (message: string) => string][] = [
    ['is empty', () => ''],
    ['is not a challenge', () => `Wallet: ${WALLET}`],
    ['has another line at the end', (message) => `${message}\nResources:\n- https://exchange.example`],
    ['ends with a line feed', (message) => `${message}\n`],
    ['has another line at the start', (message) => `Welcome!\n${message}`],
    ['has another line in between', replaced('\nNonce', '\nNot Before: 2026-03-02T12:00:00.000Z\nNonce')],
    ['has another paragraph', replaced('\n\n', '\n\nI transfer my house.\n\n')],
    ['lacks a line', replaced(/\nIssued At: .*/, '')],
    ['has its lines in another order', replaced(/\n(Nonce: .*)\n(Issued At: .*)/, '\n$2\n$1')],
    ['signs in to a site after the text', (message) => `${message}\n\n${EMBEDDED}`],
    ['signs in to a site before the text', (message) => `${EMBEDDED}\n\n${message}`],
    ['signs in to a site in place of the partner', replaced('Harbour Invest (EU)', EMBEDDED)],
    ['separates lines with U+2028', (message) => message.replaceAll('\n', '\u2028')],
    ['adds a line with U+2028', replaced(' asks you', '\u2028exchange.example asks you')],
    ['adds a line with U+2029', (message) => `${message}\u2029Resources:`],
    ['adds a line with U+0085', replaced('Nonce: ', 'Nonce: \u0085')],
    ['separates lines with carriage returns', (message) => message.replaceAll('\n', '\r\n')],
    ['has characters that are not shown', replaced('Harbour', 'Har\u200bbour')],
    ['reverses text', replaced('Harbour', '\u202eHarbour')],
    ['has bytes that are not text', replaced('Harbour', '\u0001Harbour')],
    ['names no partner', replaced(/Harbour Invest \(EU\) (?=asks)/, '')],
    ['has another nonce', replaced(/Nonce: \w+/, 'Nonce: 0x00')],
    ['has another account code', replaced('0K3MZ7QW', '0K3MZ7QU')],
    ['is issued on no date', replaced(`${WAIT}00:00.000Z`, '2026-03-42T12:00:00.000Z')],
    ['has another date format', replaced(`${WAIT}00:00.000Z`, 'Mon, 02 Mar 2026 12:00:00')],
    ['is valid for longer than ten minutes', replaced(`${WAIT}10:00.000Z`, `${WAIT}10:00.001Z`)],
    ['expires before it is issued', replaced(`${WAIT}10:00.000Z`, `${WAIT}00:00.000Z`)],
  ];
  const forms: [string, string, Request][] = [
    ['a plain challenge', plain(), {}],
    ['a sign-in message', signIn(), { siwe: SIWE }],
    [
      'a sign-in message with a statement',
      signIn({}, { ...SIWE, statement: 'Welcome.' }),
      { siwe: { ...SIWE, statement: 'Welcome.' } },
    ],
    ['a Solana sign-in message', signIn(SOLANA), { ...SOLANA, siwe: SIWE }],
  ];

  test.each(
    forms.flatMap(([form, message, request]) =>
      hostile.map(([what, change]) => ({ form, what, message: change(message), request })),
    ),
  )('if $form $what', async ({ message, request }) => {
    expect(await shown(message, request)).toBe('message_refused');
  });

  test.each<[string, string, Request]>([
    ['plain: another wallet', plain({ address: OTHER_WALLET }), {}],
    [
      'plain: the wallet in lower case',
      plain({ address: `0x${'ab'.repeat(20)}` }).toLowerCase(),
      { address: `0x${'ab'.repeat(20)}` },
    ],
    ['plain: another chain', plain({ chain: 'base_mainnet' }), {}],
    ['plain: another chain id', plain().replace('(1)', '(8453)'), {}],
    ['plain: two partners', plain().replace('Partner: Harbour', 'Partner: Other'), {}],
    ['plain: costs money', plain().replace('costs nothing', 'costs 1 ETH'), {}],
    ['a sign-in message that nobody asked for', signIn(), {}],
    ['a plain message instead of a sign-in message', plain(), { siwe: SIWE }],
    ['another wallet', signIn({ address: OTHER_WALLET }), { siwe: SIWE }],
    ['another chain', signIn({ chain: 'base_mainnet' }), { siwe: SIWE }],
    ['another site', signIn({}, { ...SIWE, domain: 'exchange.example', statement: '' }), { siwe: SIWE }],
    ['another page', signIn({}, { ...SIWE, uri: 'https://exchange.example', statement: '' }), { siwe: SIWE }],
    ['another version', signIn().replace('Version: 1', 'Version: 2'), { siwe: SIWE }],
    ['another statement', signIn({}, { ...SIWE, statement: 'I agree.' }), { siwe: SIWE }],
    ['no statement', signIn(), { siwe: { ...SIWE, statement: 'Welcome.' } }],
    ['only a statement', signIn().replace(/Harbour.*/, 'Welcome.'), { siwe: SIWE }],
    ['a request id', `${signIn()}\nRequest ID: 1`, { siwe: SIWE }],
    ['Ethereum on Solana', signIn(SOLANA).replace('Solana', 'Ethereum'), { ...SOLANA, siwe: SIWE }],
    ['Solana on Ethereum', signIn().replace('Ethereum', 'Solana'), { siwe: SIWE }],
    ['another cluster', signIn({ ...SOLANA, chain: 'solana_devnet' }), { ...SOLANA, siwe: SIWE }],
    [
      'another Solana wallet',
      signIn({ ...SOLANA, address: PHANTOM.replace('4', '5') }),
      { ...SOLANA, siwe: SIWE },
    ],
    [
      'a Solana wallet in lower case',
      signIn(SOLANA).replace(PHANTOM, PHANTOM.toLowerCase()),
      { ...SOLANA, siwe: SIWE },
    ],
    [
      'another site on Solana',
      signIn(SOLANA, { ...SIWE, domain: 'exchange.example', statement: '' }),
      { ...SOLANA, siwe: SIWE },
    ],
  ])('if it names %s', async (_what, message, request) => {
    expect(await shown(message, request)).toBe('message_refused');
  });

  test('if it names another site than the page, or than the app passed', async () => {
    openPage('https://exchange.example');
    expect(await shown(signIn())).toBe('message_refused');
    expect(await shown(signIn(SOLANA), SOLANA)).toBe('message_refused');
    openPage('https://app.example');
    expect(await shown(signIn())).toBe(signIn());
    expect(await shown(signIn(SOLANA), SOLANA)).toBe(signIn(SOLANA));
  });
});
