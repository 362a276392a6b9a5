import { parseSiweMessage } from 'viem/siwe';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type CausewayError, isCausewayError } from '../../src/error.ts';
import { createEventHub } from '../../src/event-hub.ts';
import {
  allowWallet,
  type BindWalletPhase,
  buyTokenSale,
  proveAndBindWallet,
} from '../../src/flows/index.ts';
import { createSolanaTestWallet, ProviderError, readSignedText } from '../../src/testing/index.ts';
import type { OfferDetails } from '../../src/wire.ts';
import {
  BASE_ID,
  CHAIN,
  CHAIN_ID,
  changesAccountAfter,
  failureOf,
  hangs,
  optionOf,
  QUICK,
  recordsCalls,
  rejects,
  type Sandbox,
  staysOnBase,
  useSandbox,
} from './sandbox.ts';

let sandbox: Sandbox;
let sale: OfferDetails;
let fund: OfferDetails;
beforeAll(async () => {
  sandbox = await useSandbox();
  const causeway = await sandbox.newUser();
  sale = await causeway.offers.get('harbour-quarter');
  fund = await causeway.offers.get('treasury-fund');
});

const binding = (slug = 'syndicate') =>
  ({ offerId: sale.id, optionId: optionOf(sale, slug), chain: CHAIN }) as const;

describe('proveAndBindWallet', () => {
  test('binds an EVM wallet and reports each phase as it starts', async () => {
    const causeway = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const phases: BindWalletPhase[] = [];
    const bound = await proveAndBindWallet(
      causeway,
      { ...binding(), wallet },
      { onPhase: (phase) => phases.push(phase) },
    );
    expect(bound.address).toBe(wallet.address.toLowerCase());
    expect(phases).toEqual(['connecting', 'challenging', 'signing', 'binding']);
    expect((await causeway.wallets.list(sale.id)).data).toEqual([bound]);
  });

  describe('asks the owner to sign', () => {
    afterEach(() => void vi.unstubAllGlobals());
    const openPage = (url: string) => vi.stubGlobal('location', new URL(url));
    const newSigner = async () => {
      const messages: string[] = [];
      const wallet = await sandbox.newWallet({
        intercept: (call, next) => {
          if (call.method === 'personal_sign') messages.push(readSignedText(call));
          return next(call);
        },
      });
      return { messages, wallet };
    };
    const solanaSigner = () => {
      const messages: string[] = [];
      const confirm = (message: Uint8Array) => messages.push(new TextDecoder().decode(message)) > 0;
      const seed = sandbox.overview.wallets.find(({ protocol }) => protocol === 'solana');
      const wallet = createSolanaTestWallet({ privateKey: seed?.private_key ?? '', confirm });
      return { messages, wallet };
    };
    const onSolana = { chain: 'solana_devnet' } as const;
    const STATEMENT = 'Prove that you own this wallet.';

    test("a sign-in message with the page's host and origin, in every flow that needs a proof", async () => {
      openPage('http://localhost:3000/invest');
      const causeway = await sandbox.newUser();
      await sandbox.verify(causeway);
      const { wallet, messages } = await newSigner();
      await allowWallet(causeway, { offerId: fund.id, chain: CHAIN, wallet }, QUICK);
      await proveAndBindWallet(causeway, { ...binding(), wallet });
      const fresh = await newSigner();
      const optionId = optionOf(sale, 'public');
      const order = {
        offer: sale,
        optionId,
        chain: CHAIN,
        assetId: 'usd-coin',
        amount: 25_000_000n,
      } as const;
      await buyTokenSale(causeway, { ...order, wallet: fresh.wallet }, QUICK);
      messages.push(...fresh.messages);
      expect(messages).toHaveLength(3);
      for (const message of messages)
        expect(parseSiweMessage(message)).toMatchObject({
          ...{ domain: 'localhost:3000', uri: 'http://localhost:3000', chainId: CHAIN_ID },
        });
    });

    test('a plain message if there is no page or the app opts out', async () => {
      const causeway = await sandbox.newUser();
      const { wallet, messages } = await newSigner();
      await proveAndBindWallet(causeway, { ...binding(), wallet });
      openPage('http://localhost:3000/invest');
      await proveAndBindWallet(causeway, { ...binding(), wallet }, { siwe: false });
      expect(messages).toHaveLength(2);
      for (const message of messages) expect(message).toContain(`Chain: ${CHAIN} (${CHAIN_ID})`);
    });

    test("a sign-in message with the app's own fields", async () => {
      openPage('http://elsewhere.example');
      const causeway = await sandbox.newUser();
      const { wallet, messages } = await newSigner();
      const siwe = { domain: 'localhost:4000', uri: 'http://localhost:4000/invest', statement: STATEMENT };
      await proveAndBindWallet(causeway, { ...binding(), wallet }, { siwe });
      const { statement, ...fields } = parseSiweMessage(messages[0] ?? '');
      expect(fields).toMatchObject({ domain: siwe.domain, uri: siwe.uri });
      expect(statement).toMatch(new RegExp(`^Harbour Invest asks you .* ${STATEMENT}$`));
    });

    test("a Solana sign-in message with the page's host and origin, or with the site that the app passes", async () => {
      const causeway = await sandbox.newUser();
      const { wallet, messages } = solanaSigner();
      const input = { ...binding('any-wallet'), ...onSolana, wallet } as const;
      openPage('http://localhost:4000/invest');
      const bound = await proveAndBindWallet(causeway, input);
      expect([bound.address, bound.protocol]).toEqual([wallet.address, 'solana']);
      openPage('http://elsewhere.example');
      const siwe = { domain: 'localhost:3000', uri: 'http://localhost:3000' };
      await proveAndBindWallet(causeway, input, { siwe });
      const lines = messages.map((message) => message.split('\n'));
      expect(lines.map((all) => [all[0], all[5]])).toEqual(
        ['localhost:4000', 'localhost:3000'].map((host) => [
          `${host} wants you to sign in with your Solana account:`,
          `URI: http://${host}`,
        ]),
      );
    });

    test('nothing on a page that the partner has not registered, and names the origin to register', async () => {
      openPage('https://unregistered.example/invest');
      const causeway = await sandbox.newUser();
      const { wallet, messages } = await newSigner();
      const error = await failureOf(proveAndBindWallet(causeway, { ...binding(), wallet }));
      expect([error.phase, error.code]).toEqual(['challenging', 'validation_failed']);
      expect(error.message).toContain('https://unregistered.example');
      expect(Object.keys(error.details)).toEqual(['domain', 'uri']);
      const solana = solanaSigner();
      const input = { ...binding('any-wallet'), ...onSolana, wallet: solana.wallet } as const;
      const refused = await failureOf(proveAndBindWallet(causeway, input));
      expect([refused.phase, refused.code]).toEqual(['challenging', 'message_refused']);
      expect([...messages, ...solana.messages]).toEqual([]);
    });
  });

  test('fails with user_rejected and binds nothing if the owner rejects the signature', async () => {
    const causeway = await sandbox.newUser();
    const wallet = await sandbox.newWallet({ intercept: rejects('personal_sign') });
    const error = await failureOf(proveAndBindWallet(causeway, { ...binding(), wallet }));
    expect([error.phase, error.code]).toEqual(['signing', 'user_rejected']);
    expect((await causeway.wallets.list(sale.id)).data).toEqual([]);
    const solana = createSolanaTestWallet({
      privateKey: sandbox.overview.wallets.find(({ protocol }) => protocol === 'solana')?.private_key ?? '',
      confirm: () => false,
    });
    const input = { ...binding('any-wallet'), chain: 'solana_devnet', wallet: solana } as const;
    const siwe = { domain: 'localhost:3000', uri: 'http://localhost:3000' };
    expect((await failureOf(proveAndBindWallet(causeway, input, { siwe }))).code).toBe('user_rejected');
  });

  test('switches a wallet on another chain before it signs', async () => {
    const causeway = await sandbox.newUser();
    const calls: string[] = [];
    const wallet = await sandbox.newWallet({ chainId: BASE_ID, intercept: recordsCalls(calls) });
    await proveAndBindWallet(causeway, { ...binding(), wallet });
    expect(calls.indexOf('wallet_switchEthereumChain')).toBeGreaterThan(-1);
    expect(calls.indexOf('wallet_switchEthereumChain')).toBeLessThan(calls.indexOf('personal_sign'));
  });

  test('does not ask a wallet that stays on another chain to sign', async () => {
    const causeway = await sandbox.newUser();
    const calls: string[] = [];
    const wallet = await sandbox.newWallet({
      intercept: (call, next) => recordsCalls(calls)(call, (passed) => staysOnBase(passed, next)),
    });
    const error = await failureOf(proveAndBindWallet(causeway, { ...binding(), wallet }));
    expect([error.phase, error.code]).toEqual(['connecting', 'wrong_chain']);
    expect(calls).not.toContain('personal_sign');
  });

  test("adds an unknown chain to the wallet only with the caller's nodes", async () => {
    const causeway = await sandbox.newUser();
    const added: unknown[] = [];
    const walletWithoutChain = async () => {
      let isKnown = false;
      const wallet = await sandbox.newWallet({ chainId: BASE_ID });
      wallet.intercept((call, next) => {
        if (call.method === 'wallet_switchEthereumChain' && !isKnown)
          return Promise.reject(new ProviderError(-32603, 'failed', { originalError: { code: 4902 } }));
        if (call.method === 'wallet_addEthereumChain') {
          isKnown = true;
          added.push(...(call.params as unknown[]));
        }
        return next(call);
      });
      return wallet;
    };
    const error = await failureOf(
      proveAndBindWallet(causeway, { ...binding(), wallet: await walletWithoutChain() }),
    );
    expect(error.code).toBe('wrong_chain');
    expect(added).toEqual([]);
    const node = sandbox.overview.chains[0]?.rpc_url ?? '';
    const rpcUrls = { [CHAIN]: [node] };
    await proveAndBindWallet(causeway, { ...binding(), wallet: await walletWithoutChain() }, { rpcUrls });
    expect(added).toMatchObject([{ chainId: `0x${CHAIN_ID.toString(16)}`, rpcUrls: [node] }]);
  });

  test('notices a changed account before it asks the wallet to sign', async () => {
    const causeway = await sandbox.newUser();
    const wallet = await sandbox.newWallet({ intercept: changesAccountAfter('eth_chainId') });
    const error = await failureOf(proveAndBindWallet(causeway, { ...binding(), wallet }));
    expect([error.phase, error.code]).toEqual(['signing', 'wallet_changed']);
  });

  test("keeps the code of the service's error and passes the error on as the cause", async () => {
    const causeway = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const error = await failureOf(
      proveAndBindWallet(causeway, {
        ...binding(),
        optionId: '01890000-0000-7000-8000-000000000000',
        wallet,
      }),
    );
    expect([error.phase, error.code]).toEqual(['binding', 'not_found']);
    expect(isCausewayError(error.cause)).toBe(true);
    expect((error.cause as CausewayError).eventId).toMatch(/./);
  });

  test("rejects a chain whose protocol is not the wallet's", async () => {
    const causeway = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const input = { ...binding(), chain: 'solana_devnet', wallet } as const;
    expect((await failureOf(proveAndBindWallet(causeway, input))).code).toBe('invalid_input');
  });

  test('can be aborted while it waits for a wallet that never responds', async () => {
    const causeway = await sandbox.newUser();
    const controller = new AbortController();
    const wallet = await sandbox.newWallet({
      intercept: hangs('personal_sign', () => controller.abort(new Error('closed'))),
    });
    const error = await failureOf(
      proveAndBindWallet(causeway, { ...binding(), wallet }, { signal: controller.signal }),
    );
    expect([error.phase, error.code]).toEqual(['signing', 'aborted']);
    expect((error.cause as Error).message).toBe('closed');
  });
});

describe('allowWallet', () => {
  const authorized = async (causeway: Awaited<ReturnType<Sandbox['newUser']>>, wallet: string) =>
    (
      await causeway.swap.authorized({
        contract_address: fund.contracts[0]?.address ?? '',
        wallet_address: wallet,
        chain: CHAIN,
      })
    ).authorized;

  test('adds a wallet to the allow-list, and prompts no wallet that is already on it', async () => {
    const causeway = await sandbox.newUser();
    await sandbox.verify(causeway);
    const wallet = await sandbox.newWallet();
    const input = { offerId: fund.id, chain: CHAIN, wallet } as const;
    const first = await allowWallet(causeway, input, QUICK);
    expect(first.transactionHash).toMatch(/^0x[0-9a-f]{64}$/);
    expect(await authorized(causeway, wallet.address)).toBe(true);
    const calls: string[] = [];
    wallet.intercept(recordsCalls(calls));
    expect(await allowWallet(causeway, input, QUICK)).toEqual({ allowed: true, transactionHash: null });
    expect(calls).not.toContain('personal_sign');
    expect(calls).not.toContain('eth_sendTransaction');
  });

  test('sends no transaction for an offer without an allow-list', async () => {
    const causeway = await sandbox.newUser();
    await sandbox.verify(causeway);
    const offer = await causeway.offers.get('apple-tokenized');
    const wallet = await sandbox.newWallet();
    expect(await allowWallet(causeway, { offerId: offer.id, chain: CHAIN, wallet }, QUICK)).toEqual({
      allowed: true,
      transactionHash: null,
    });
  });

  test('rejects a token sale, which has no allow-list, before the wallet signs', async () => {
    const calls: string[] = [];
    const wallet = await sandbox.newWallet({ intercept: recordsCalls(calls) });
    const causeway = await sandbox.newUser();
    await sandbox.verify(causeway);
    const error = await failureOf(allowWallet(causeway, { offerId: sale.id, chain: CHAIN, wallet }, QUICK));
    expect(error.code).toBe('offer_type_mismatch');
    expect(calls).not.toContain('personal_sign');
  });

  test('sends no money, whatever the reply says, and learns from an event that the wallet is allowed', async () => {
    let isAllowed = false;
    const causeway = await sandbox.newUser({
      fetch: async (url, init) => {
        const reply = await fetch(url, init);
        const change = String(url).endsWith('/allow-wallet')
          ? { value: '0xde0b6b3a7640000', chainId: '0x1' }
          : String(url).includes('/wallet/authorized') && { authorized: isAllowed };
        return change ? Response.json({ ...((await reply.json()) as object), ...change }) : reply;
      },
    });
    await sandbox.verify(causeway);
    const sent: unknown[] = [];
    const wallet = await sandbox.newWallet({
      intercept: (call, next) => {
        if (call.method === 'eth_sendTransaction') sent.push(...(call.params as unknown[]));
        return next(call);
      },
    });
    const events = createEventHub(causeway);
    const stop = events.subscribe(({ type }) => {
      isAllowed ||= type === 'wallet.allowed';
    });
    await expect.poll(events.isLive).toBe(true);
    // Polls are 10 minutes apart, so only the event can end the wait in time.
    const options = { events, pollIntervalMs: 600_000 };
    const input = { offerId: fund.id, chain: CHAIN, wallet } as const;
    expect((await allowWallet(causeway, input, options)).transactionHash).toMatch(/^0x/);
    const from = wallet.address.toLowerCase();
    const to = fund.contracts[0]?.allow_list_address?.toLowerCase();
    expect(sent).toEqual([{ from, to, data: expect.any(String), value: '0x0', chainId: '0xaa36a7' }]);
    stop();
  });

  test('leaves the wallet off the allow-list if the transaction is rejected, and can be retried', async () => {
    const causeway = await sandbox.newUser();
    await sandbox.verify(causeway);
    const wallet = await sandbox.newWallet({ intercept: rejects('eth_sendTransaction') });
    const input = { offerId: fund.id, chain: CHAIN, wallet } as const;
    const error = await failureOf(allowWallet(causeway, input, QUICK));
    expect([error.phase, error.code]).toEqual(['broadcasting', 'user_rejected']);
    expect(await authorized(causeway, wallet.address)).toBe(false);
    wallet.intercept(undefined);
    await allowWallet(causeway, input, QUICK);
    expect(await authorized(causeway, wallet.address)).toBe(true);
  });

  test.each([
    ['a token approval', () => ({ to: sandbox.tokenOf('usd-coin'), data: `0x095ea7b3${'00'.repeat(64)}` })],
    [
      'a swap instead of the permission',
      () => ({ to: fund.contracts[0]?.address, data: `0x9f1d0f59${'00'.repeat(96)}` }),
    ],
    [
      'a transfer on any contract',
      () => ({ to: `0x${'12'.repeat(20)}`, data: `0xa9059cbb${'00'.repeat(64)}` }),
    ],
  ])('never sends %s to the wallet', async (_what, change) => {
    const causeway = await sandbox.newUser({
      fetch: async (url, init) => {
        const reply = await fetch(url, init);
        if (!String(url).endsWith('/allow-wallet')) return reply;
        return Response.json({ ...((await reply.json()) as object), ...change() });
      },
    });
    const calls: string[] = [];
    const wallet = await sandbox.newWallet({ intercept: recordsCalls(calls) });
    const error = await failureOf(allowWallet(causeway, { offerId: fund.id, chain: CHAIN, wallet }, QUICK));
    expect([error.phase, error.code]).toEqual(['allowing', 'calldata_refused']);
    expect(calls).not.toContain('eth_sendTransaction');
  });
});
