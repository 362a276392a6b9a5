import { hostileToken } from '@causeway/contracts/abi/test/hostile-token.ts';
import type { Hex } from 'viem';
import {
  decodeFunctionData,
  encodeFunctionData,
  numberToHex,
  parseAbi,
  toFunctionSelector,
} from 'viem/utils';
import { beforeAll, describe, expect, test } from 'vitest';
import type { CausewayError } from '../../src/error.ts';
import { createEventHub } from '../../src/event-hub.ts';
import {
  buyTokenSale,
  findOpenApproval,
  proveAndBindWallet,
  revokeApproval,
  type TokenSalePhase,
} from '../../src/flows/index.ts';
import type { Interceptor, TestWallet, WalletCall } from '../../src/testing/index.ts';
import type { OfferDetails } from '../../src/wire.ts';
import {
  BASE_ID,
  CHAIN,
  changesAccountAfter,
  failureOf,
  hangs,
  optionOf,
  QUICK,
  rejects,
  type Sandbox,
  useSandbox,
} from './sandbox.ts';

type Client = Awaited<ReturnType<Sandbox['newUser']>>;
type Sent = { from: Hex; to: Hex; data: Hex };

const abi = parseAbi([
  'function approve(address spender, uint256 amount)',
  'function transferFrom(address from, address to, uint256 amount)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
]);
const AMOUNT = 25_000_000n;

let sandbox: Sandbox;
let offer: OfferDetails;
let fund: Hex;
let causeway: Client;
beforeAll(async () => {
  sandbox = await useSandbox();
  causeway = await sandbox.newUser();
  offer = await causeway.offers.get('harbour-quarter');
  fund = offer.contracts.find(({ chain }) => chain === CHAIN)?.address.toLowerCase() as Hex;
});

const purchase = (wallet: TestWallet, assetId = 'usd-coin') =>
  ({ offer, optionId: optionOf(offer, 'public'), chain: CHAIN, wallet, assetId, amount: AMOUNT }) as const;

/** Records and decodes the calls that the wallet is asked to send. */
function recordSends(wallet: TestWallet, interceptor: Interceptor = (call, next) => next(call)) {
  const sent: { name: string; args: readonly unknown[]; to: Hex }[] = [];
  wallet.intercept((call, next) => {
    if (call.method === 'eth_sendTransaction') {
      const [{ to, data }] = call.params as [Sent];
      const { functionName: name, args } = decodeFunctionData({ abi, data });
      sent.push({ name, args: args.map((arg) => (typeof arg === 'string' ? arg.toLowerCase() : arg)), to });
    }
    return interceptor(call, next);
  });
  return sent;
}

const approve = (wallet: TestWallet, token: Hex, amount: bigint) =>
  wallet.provider.request({
    method: 'eth_sendTransaction',
    params: [
      {
        from: wallet.address,
        to: token,
        data: encodeFunctionData({ abi, functionName: 'approve', args: [fund, amount] }),
      },
    ],
  });

/** Sends an approval and aborts the flow, as closing the page would. */
async function crashAfterApproval(client: Client, wallet: TestWallet, amount = AMOUNT): Promise<Hex> {
  const controller = new AbortController();
  let hash: Hex = '0x';
  const onApproved = (sent: Hex) => {
    hash = sent;
    controller.abort();
  };
  const input = { ...purchase(wallet), amount, onApproved };
  const error = await failureOf(buyTokenSale(client, input, { ...QUICK, signal: controller.signal }));
  expect([error.phase, error.code]).toEqual(['approving', 'aborted']);
  expect((await client.participations.list()).data).toEqual([]);
  return hash;
}

const expectCompleted = (client: Client, id: string) =>
  expect.poll(async () => (await client.participations.get(id)).status).toBe('completed');

describe('a purchase', () => {
  test('approves exactly the amount once and reaches completed', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const sent = recordSends(wallet);
    const phases: TokenSalePhase[] = [];
    const approvals: string[] = [];
    const participation = await buyTokenSale(
      client,
      { ...purchase(wallet), onApproved: (hash) => approvals.push(hash) },
      { ...QUICK, onPhase: (phase) => phases.push(phase) },
    );
    expect(sent).toEqual([
      { name: 'approve', args: [fund, AMOUNT], to: sandbox.tokenOf('usd-coin').toLowerCase() },
    ]);
    expect(phases).toEqual([
      'connecting',
      'checking',
      'proving',
      'approving',
      'confirming_approval',
      'creating',
    ]);
    expect(approvals).toHaveLength(1);
    expect(participation.amount_string).toBe('25');
    await expectCompleted(client, participation.id);
  });

  test('resets an earlier allowance to zero only if the token requires it (USDT)', async () => {
    const client = await sandbox.newUser();
    const [tether, dollar] = [await sandbox.newWallet(), await sandbox.newWallet()];
    await approve(tether, sandbox.tokenOf('tether'), 7n);
    await approve(dollar, sandbox.tokenOf('usd-coin'), 7n);
    const amounts = async (wallet: TestWallet, assetId: string) => {
      const sent = recordSends(wallet);
      await buyTokenSale(client, purchase(wallet, assetId), QUICK);
      return sent.map(({ args }) => args[1]);
    };
    expect(await amounts(tether, 'tether')).toEqual([0n, AMOUNT]);
    expect(await amounts(dollar, 'usd-coin')).toEqual([AMOUNT]);
  });

  test('approves USDT directly if there is no earlier allowance', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const sent = recordSends(wallet);
    await buyTokenSale(client, purchase(wallet, 'tether'), QUICK);
    expect(sent.map(({ args }) => args[1])).toEqual([AMOUNT]);
  });

  test('has the owner sign a permit for exactly the amount, which the wallet submits', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const sent = recordSends(wallet);
    const phases: TokenSalePhase[] = [];
    const participation = await buyTokenSale(
      client,
      { ...purchase(wallet), approval: 'permit' },
      { ...QUICK, onPhase: (phase) => phases.push(phase) },
    );
    expect(sent).toMatchObject([{ name: 'permit' }]);
    expect(sent[0]?.args.slice(0, 3)).toEqual([wallet.address.toLowerCase(), fund, AMOUNT]);
    expect(phases).toContain('signing_permit');
    await expectCompleted(client, participation.id);
  });

  test('reports a token without permits before anything is signed', async () => {
    const wallet = await sandbox.newWallet();
    const calls: string[] = [];
    wallet.intercept((call, next) => {
      calls.push(call.method);
      return next(call);
    });
    const error = await failureOf(
      buyTokenSale(causeway, { ...purchase(wallet, 'tether'), approval: 'permit' }, QUICK),
    );
    expect(error.code).toBe('permit_not_supported');
    expect(calls).not.toContain('eth_signTypedData_v4');
  });

  test('waits for an earlier participation, which still needs its allowance', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    // From here on, transactions stay pending until a block is mined on request.
    await sandbox.setInterval(600_000);
    try {
      const first = await buyTokenSale(
        client,
        { ...purchase(wallet), onApproved: () => void sandbox.mine(1) },
        QUICK,
      );
      const phases: TokenSalePhase[] = [];
      const waiting = new Promise<void>((resolve) => {
        void buyTokenSale(client, purchase(wallet), {
          ...QUICK,
          confirmationTimeoutMs: 300,
          onPhase: (phase) => {
            phases.push(phase);
            if (phase === 'waiting_for_earlier') resolve();
          },
        }).catch(() => undefined);
      });
      await waiting;
      const options = { ...QUICK, confirmationTimeoutMs: 300 };
      const error = await failureOf(buyTokenSale(client, purchase(wallet), options));
      expect([error.phase, error.code]).toEqual(['waiting_for_earlier', 'participation_outstanding']);
      expect(error.details.participations).toEqual([first.id]);
      await sandbox.setInterval(0);
      const second = await buyTokenSale(client, purchase(wallet), QUICK);
      for (const { id } of [first, second]) await expectCompleted(client, id);
      expect(phases).not.toContain('approving');
    } finally {
      await sandbox.setInterval(0);
    }
  });

  test('waits for an earlier participation in another offer with the same fund', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const other = await sandbox.sellAlso(offer, CHAIN);
    await sandbox.setInterval(600_000);
    try {
      const onApproved = () => void sandbox.mine(1);
      const first = await buyTokenSale(client, { ...purchase(wallet), onApproved }, QUICK);
      const second = { ...purchase(wallet), offer: other, optionId: optionOf(other, 'only') };
      const error = await failureOf(buyTokenSale(client, second, { ...QUICK, confirmationTimeoutMs: 300 }));
      expect(error.code).toBe('participation_outstanding');
      expect(error.details.participations).toEqual([first.id]);
      await sandbox.setInterval(0);
      for (const { id } of [first, await buyTokenSale(client, second, QUICK)])
        await expectCompleted(client, id);
    } finally {
      await sandbox.setInterval(0);
    }
  });

  test('continues when an event reports that the earlier participation is settled', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const events = createEventHub(client);
    // The first purchase is settled only after the second has started to wait for events, because until then blocks are
    // mined only on request. Polls are 10 minutes apart, so only an event can report the settlement in time.
    events.onLiveChange(() => void (events.isLive() && sandbox.setInterval(0)));
    await sandbox.setInterval(600_000);
    try {
      const onApproved = () => void sandbox.mine(1);
      const first = await buyTokenSale(client, { ...purchase(wallet), onApproved }, QUICK);
      const second = await buyTokenSale(client, purchase(wallet), { events, pollIntervalMs: 600_000 });
      for (const { id } of [first, second]) await expectCompleted(client, id);
    } finally {
      await sandbox.setInterval(0);
    }
  });
});

describe('with a token that emits `Approval` in `transferFrom`', () => {
  /** Publishes a sale for such a token, of which the wallet owns 1,000. */
  const sellFor = async (wallet: TestWallet): Promise<OfferDetails> => {
    const send = async (transaction: object) => {
      const params = [{ from: wallet.address, ...transaction }];
      const hash = await wallet.provider.request({ method: 'eth_sendTransaction', params });
      const receipt = await wallet.node('eth_getTransactionReceipt', [hash]);
      return receipt as { status: Hex; contractAddress: Hex };
    };
    const { contractAddress: token } = await send({ data: hostileToken.bytecode });
    for (const [functionName, number] of [
      ['mint', 1_000_000_000n],
      ['treat', 3n],
    ] as const) {
      const args = [wallet.address, number] as const;
      const data = encodeFunctionData({ abi: hostileToken.abi, functionName, args });
      expect((await send({ to: token, data })).status).toBe('0x1');
    }
    return sandbox.sellAlso(offer, CHAIN, token);
  };

  test('finds the open approval after an earlier participation was committed, and buys with it', async () => {
    const wallet = await sandbox.newWallet();
    const client = await sandbox.newUser();
    const sale = await sellFor(wallet);
    const order = { ...purchase(wallet), offer: sale, optionId: optionOf(sale, 'only') };
    const token = sale.contracts[0]?.funding_tokens[0]?.address as Hex;
    const first = (await approve(wallet, token, AMOUNT)) as Hex;
    const open = await approve(wallet, token, 5n * AMOUNT);
    const { id } = await buyTokenSale(client, { ...order, approvalHash: first }, QUICK);
    await expectCompleted(client, id);
    const larger = { ...order, amount: 4n * AMOUNT };
    const found = await findOpenApproval(client, larger, QUICK);
    expect(found).toBe(open);
    const second = await buyTokenSale(client, { ...larger, approvalHash: found ?? undefined }, QUICK);
    await expectCompleted(client, second.id);
  });
});

describe('before the user pays for an approval, a purchase rejects', () => {
  const rejection = async (client: Client, change: Partial<Parameters<typeof buyTokenSale>[1]>) => {
    const wallet = await sandbox.newWallet();
    const sent = recordSends(wallet);
    const error = await failureOf(buyTokenSale(client, { ...purchase(wallet), ...change }, QUICK));
    expect(sent).toEqual([]);
    return error;
  };

  test('an insufficient balance', async () => {
    const error = await rejection(causeway, { amount: 1_000_000_001n });
    expect([error.phase, error.code]).toEqual(['checking', 'insufficient_balance']);
    expect(error.details).toMatchObject({ required: '1000000001', balance: '1000000000' });
  });

  test('an unmet requirement, with its status', async () => {
    const optionId = optionOf(offer, 'syndicate');
    const error = await rejection(causeway, { optionId, amount: 200_000_000n });
    expect(error.code).toBe('requirements_not_met');
    const { options } = await causeway.requirements.list(offer.id);
    const [requirement] = options[optionId]?.data ?? [];
    expect((error.cause as CausewayError).errors).toEqual({ [requirement?.id ?? '']: ['not_started'] });
    expect(error.details).toEqual((error.cause as CausewayError).errors);
  });

  test('a wallet that is not bound', async () => {
    const client = await sandbox.newUser();
    const optionId = optionOf(offer, 'syndicate');
    const bound = await sandbox.newWallet();
    await proveAndBindWallet(client, { offerId: offer.id, optionId, chain: CHAIN, wallet: bound });
    const error = await rejection(client, { optionId, amount: 200_000_000n });
    expect(error.code).toBe('wallet_not_bound');
    await buyTokenSale(client, { ...purchase(bound), optionId, amount: 200_000_000n }, QUICK);
  });

  test.each<[string, Partial<Parameters<typeof buyTokenSale>[1]>, string]>([
    ['an amount below the minimum purchase', { amount: 9_999_999n }, 'invalid_input'],
    ['an amount of zero', { amount: '0' }, 'invalid_input'],
    ['a decimal amount', { amount: '10.5' }, 'invalid_input'],
    ['an asset that the offer does not accept', { assetId: 'dogecoin' }, 'asset_not_accepted'],
    ['a chain without a deployment', { chain: 'ethereum_mainnet' }, 'chain_not_supported'],
    ['an option of another offer', { optionId: 'nope' }, 'invalid_input'],
    ['an invalid approval hash', { approvalHash: '0x12' }, 'invalid_input'],
  ])('%s', async (_what, change, code) => {
    expect((await rejection(causeway, change)).code).toBe(code);
  });

  test('an offer of another type', async () => {
    const fundOffer = await causeway.offers.get('treasury-fund');
    expect((await rejection(causeway, { offer: fundOffer })).code).toBe('offer_type_mismatch');
  });
});

describe('a wallet during a purchase', () => {
  test('leaves nothing behind if the owner rejects the approval', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet({ intercept: rejects('eth_sendTransaction') });
    const error = await failureOf(buyTokenSale(client, purchase(wallet), QUICK));
    expect([error.phase, error.code]).toEqual(['approving', 'user_rejected']);
    const query = {
      token_address: sandbox.tokenOf('usd-coin'),
      owner: wallet.address,
      spender: fund,
      chain: CHAIN,
    } as const;
    expect((await client.token.allowance(query)).allowance).toBe('0');
    expect((await client.participations.list()).data).toEqual([]);
  });

  test('is switched back before it sends if it was switched to another chain', async () => {
    const wallet = await sandbox.newWallet();
    let switched = 0;
    wallet.intercept(async (call, next) => {
      const result = await next(call);
      // Switches the chain right after the simulation, as the wallet's owner might.
      if (call.method === 'eth_call' && switched === 0) {
        switched++;
        await next({
          method: 'wallet_switchEthereumChain',
          params: [{ chainId: `0x${BASE_ID.toString(16)}` }],
        });
      } else if (call.method === 'wallet_switchEthereumChain') switched++;
      return result;
    });
    const client = await sandbox.newUser();
    const { chain } = await buyTokenSale(client, purchase(wallet), QUICK);
    expect([chain, switched]).toEqual([CHAIN, 2]);
  });

  test('sends nothing if its account has changed', async () => {
    const wallet = await sandbox.newWallet();
    const sent = recordSends(wallet, changesAccountAfter('personal_sign'));
    const error = await failureOf(buyTokenSale(causeway, purchase(wallet), QUICK));
    expect([error.phase, error.code]).toEqual(['approving', 'wallet_changed']);
    expect(sent).toEqual([]);
  });

  test('cannot lower the approval: the error has the approved amount', async () => {
    const wallet = await sandbox.newWallet();
    const data = encodeFunctionData({ abi, functionName: 'approve', args: [fund, AMOUNT - 1n] });
    wallet.intercept((call, next) =>
      call.method === 'eth_sendTransaction'
        ? next({ ...call, params: [{ ...(call.params as [Sent])[0], data }] })
        : next(call),
    );
    const error = await failureOf(buyTokenSale(causeway, purchase(wallet), QUICK));
    expect([error.phase, error.code]).toEqual(['confirming_approval', 'insufficient_allowance']);
    expect(error.details).toMatchObject({ required: '25000000', allowance: '24999999' });
  });

  test('reports the reason if its transaction reverts', async () => {
    const wallet = await sandbox.newWallet();
    const args = [fund, wallet.address, 1n] as const;
    const data = encodeFunctionData({ abi, functionName: 'transferFrom', args });
    wallet.intercept((call, next) =>
      call.method === 'eth_sendTransaction'
        ? next({ ...call, params: [{ ...(call.params as [Sent])[0], data, gas: '0x186a0' }] })
        : next(call),
    );
    const error = await failureOf(buyTokenSale(causeway, purchase(wallet), QUICK));
    expect([error.phase, error.code]).toEqual(['confirming_approval', 'transaction_reverted']);
    expect(error.details.reason).toMatch(/^Insufficient(Allowance|Balance)$/);
    expect(error.transactionHash).toMatch(/^0x[0-9a-f]{64}$/);
  });

  /**
   * Returns the offer with a funding token that is broken: `approve` returns false, and all other functions return
   * 2^48-1.
   */
  const withFalseToken = async (wallet: TestWallet): Promise<OfferDetails> => {
    const data = '0x601d80600b6000396000f360003560e01c63095ea7b3141565ffffffffffff0260005260206000f3';
    const hash = await wallet.provider.request({
      method: 'eth_sendTransaction',
      params: [{ from: wallet.address, data }],
    });
    const receipt = await wallet.node('eth_getTransactionReceipt', [hash]);
    const { contractAddress: address } = receipt as { contractAddress: Hex };
    const changed = structuredClone(offer);
    for (const contract of changed.contracts)
      for (const token of contract.funding_tokens) token.address = address;
    return changed;
  };

  test('sends no approval, and revokes none, with a token whose approve returns false', async () => {
    const wallet = await sandbox.newWallet();
    const order = { ...purchase(wallet), offer: await withFalseToken(wallet) };
    const sent = recordSends(wallet, async (call, next) => {
      const [{ data = '' } = {}] = (call.params ?? []) as [{ data?: string }?];
      return data === toFunctionSelector('decimals()') ? numberToHex(6, { size: 32 }) : next(call);
    });
    const bought = await failureOf(buyTokenSale(causeway, order, QUICK));
    expect([bought.phase, bought.code]).toEqual(['approving', 'approval_failed']);
    const revoked = await failureOf(revokeApproval(causeway, order, QUICK));
    expect([revoked.phase, revoked.code, sent]).toEqual(['connecting', 'approval_failed', []]);
  });

  test('revokes an approval once, and reports a revocation that failed', async () => {
    const wallet = await sandbox.newWallet();
    const order = purchase(wallet);
    const approve = (amount: bigint) =>
      encodeFunctionData({ abi, functionName: 'approve', args: [fund, amount] });
    const approved = (amount: bigint) =>
      wallet.provider.request({
        method: 'eth_sendTransaction',
        params: [{ from: wallet.address, to: sandbox.tokenOf('usd-coin'), data: approve(amount) }],
      });
    await approved(AMOUNT);
    const sends =
      (change: object): Interceptor =>
      (call, next) =>
        call.method === 'eth_sendTransaction'
          ? next({ ...call, params: [{ ...(call.params as [object])[0], ...change }] })
          : next(call);
    // In the wallet, the owner changes the new allowance from 0 to 1, so part of the approval remains.
    wallet.intercept(sends({ data: approve(1n) }));
    const kept = await failureOf(revokeApproval(causeway, order, QUICK));
    expect([kept.phase, kept.code]).toEqual(['confirming', 'approval_failed']);
    // Another approval follows the revocation.
    wallet.intercept(async (call, next) => {
      const reply = await next(call);
      if (call.method === 'eth_sendTransaction') {
        wallet.intercept(undefined);
        await approved(2n);
        await sandbox.mine(1);
      }
      return reply;
    });
    const replaced = await failureOf(revokeApproval(causeway, order, QUICK));
    expect([replaced.phase, replaced.code]).toEqual(['confirming', 'approval_failed']);
    // The transaction runs out of gas.
    wallet.intercept(sends({ gas: numberToHex(22_000) }));
    const failed = await failureOf(revokeApproval(causeway, order, QUICK));
    expect([failed.phase, failed.code]).toEqual(['confirming', 'transaction_reverted']);
    const sent = recordSends(wallet);
    expect(await revokeApproval(causeway, order, QUICK)).toMatch(/^0x[0-9a-f]{64}$/);
    expect(sent.map(({ name, args }) => [name, ...args])).toEqual([['approve', fund, 0n]]);
    expect((await failureOf(revokeApproval(causeway, order, QUICK))).code).toBe('approval_not_found');
  });

  /**
   * Sends the transaction, then replaces it with one that has the same nonce and a higher fee. The replacement is sent
   * immediately, or after the flow has seen the first transaction.
   */
  const replaces = (change: (sent: Sent) => Partial<Sent>, when: 'immediately' | 'later'): Interceptor => {
    let replace: (() => Promise<unknown>) | undefined;
    return async (call, next) => {
      const result = call.method === 'eth_sendTransaction' ? await sendFirst(call, next) : await next(call);
      const isTime = when === 'immediately' || call.method === 'eth_getTransactionByHash';
      if (isTime && replace !== undefined) {
        const send = replace;
        replace = undefined;
        await send();
        await sandbox.mine(1);
      }
      return result;
    };
    async function sendFirst(call: WalletCall, next: (call: WalletCall) => Promise<unknown>) {
      const [request] = call.params as [Sent];
      const nonce = await next({ method: 'eth_getTransactionCount', params: [request.from, 'pending'] });
      const send = (fields: object) =>
        next({ ...call, params: [{ ...request, gas: '0x30d40', nonce, ...fields }] });
      replace = () => send({ maxFeePerGas: '0x2540be400', maxPriorityFeePerGas: '0x64', ...change(request) });
      return send({ maxFeePerGas: '0x12a05f200', maxPriorityFeePerGas: '0x1' });
    }
  };

  test.each(['immediately', 'later'] as const)(
    'reports the new hash if its owner speeds the transaction up %s',
    async (when) => {
      const client = await sandbox.newUser();
      const wallet = await sandbox.newWallet({ intercept: replaces(() => ({}), when) });
      const hashes: Hex[] = [];
      await sandbox.setInterval(600_000);
      try {
        const onApproved = (hash: Hex) => void hashes.push(hash);
        const participation = await buyTokenSale(client, { ...purchase(wallet), onApproved }, QUICK);
        expect(hashes).toHaveLength(2);
        const receipt = (await wallet.node('eth_getTransactionReceipt', [hashes[1]])) as { status: Hex };
        expect(receipt.status).toBe('0x1');
        expect(await wallet.node('eth_getTransactionReceipt', [hashes[0]])).toBeNull();
        await sandbox.setInterval(0);
        await expectCompleted(client, participation.id);
      } finally {
        await sandbox.setInterval(0);
      }
    },
  );

  test('ends the purchase if its owner cancels the transaction', async () => {
    const cancels = replaces(({ from }) => ({ to: from, data: '0x' }), 'later');
    const wallet = await sandbox.newWallet({ intercept: cancels });
    await sandbox.setInterval(600_000);
    try {
      const error = await failureOf(buyTokenSale(causeway, purchase(wallet), QUICK));
      expect([error.phase, error.code]).toEqual(['confirming_approval', 'transaction_replaced']);
    } finally {
      await sandbox.setInterval(0);
    }
  });

  test('reports the hash of an approval that is not mined in time', async () => {
    const wallet = await sandbox.newWallet();
    await sandbox.setInterval(600_000);
    try {
      const error = await failureOf(
        buyTokenSale(causeway, purchase(wallet), { ...QUICK, confirmationTimeoutMs: 200 }),
      );
      expect([error.phase, error.code]).toEqual(['confirming_approval', 'confirmation_timeout']);
      expect(error.transactionHash).toMatch(/^0x/);
    } finally {
      await sandbox.setInterval(0);
    }
  });
});

describe('an interrupted purchase', () => {
  test('resumes with the approval hash and sends nothing again', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const approvalHash = await crashAfterApproval(client, wallet);
    const sent = recordSends(wallet);
    const phases: TokenSalePhase[] = [];
    const participation = await buyTokenSale(
      client,
      { ...purchase(wallet), approvalHash },
      { ...QUICK, onPhase: (phase) => phases.push(phase) },
    );
    expect(sent).toEqual([]);
    expect(phases).toEqual(['connecting', 'confirming_approval', 'creating']);
    await expectCompleted(client, participation.id);
    const again = await buyTokenSale(client, { ...purchase(wallet), approvalHash }, QUICK);
    expect(again.id).toBe(participation.id);
  });

  test('creates one participation if it is resumed concurrently', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const approvalHash = await crashAfterApproval(client, wallet);
    const resumed = await Promise.all(
      Array.from({ length: 5 }, () => buyTokenSale(client, { ...purchase(wallet), approvalHash }, QUICK)),
    );
    expect(new Set(resumed.map(({ id }) => id)).size).toBe(1);
    expect((await client.participations.list()).data).toHaveLength(1);
  });

  test('sends the same idempotency key on every resume, and another one for another request', async () => {
    const keys: (string | null)[] = [];
    const client = await sandbox.newUser({
      fetch: (url, init) => {
        if (init?.method === 'POST' && String(url).endsWith('/v1/participations'))
          keys.push(new Headers(init.headers).get('idempotency-key'));
        return fetch(url, init);
      },
    });
    const wallet = await sandbox.newWallet();
    const approvalHash = await crashAfterApproval(client, wallet);
    const resumed = { ...purchase(wallet), approvalHash };
    await buyTokenSale(client, resumed, QUICK);
    await buyTokenSale(client, resumed, QUICK);
    const less = await failureOf(buyTokenSale(client, { ...resumed, amount: AMOUNT - 1n }, QUICK));
    expect(less.code).toBe('approval_already_used');
    expect(keys[0]).toBe(keys[1]);
    expect(new Set(keys.slice(1)).size).toBe(3);
  });

  test('succeeds after a rejection once the requirement is met, although the service stored the rejection', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const optionId = optionOf(offer, 'syndicate');
    const approvalHash = await crashAfterApproval(client, wallet, 200_000_000n);
    const resumed = { ...purchase(wallet), optionId, amount: 200_000_000n, approvalHash };
    const error = await failureOf(buyTokenSale(client, resumed, QUICK));
    expect([error.phase, error.code]).toEqual(['creating', 'requirements_not_met']);
    const { status, errors } = error.cause as CausewayError;
    expect(status).toBe(403);
    expect(errors.checks).toMatchObject([{ status: 'action_needed', next: { type: 'bind_wallet' } }]);
    await proveAndBindWallet(client, { offerId: offer.id, optionId, chain: CHAIN, wallet });
    await expectCompleted(client, (await buyTokenSale(client, resumed, QUICK)).id);
  });

  test('rejects the approval hash of another wallet', async () => {
    const client = await sandbox.newUser();
    const [mine, other] = [await sandbox.newWallet(), await sandbox.newWallet()];
    const approvalHash = await crashAfterApproval(client, other);
    const error = await failureOf(buyTokenSale(client, { ...purchase(mine), approvalHash }, QUICK));
    expect([error.phase, error.code]).toEqual(['confirming_approval', 'approval_failed']);
  });

  test('waits until the approval is mined again after a reorganisation', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const approvalHash = await crashAfterApproval(client, wallet);
    await sandbox.reorg(1, 'return');
    expect(await wallet.node('eth_getTransactionReceipt', [approvalHash])).toBeNull();
    let polls = 0;
    wallet.intercept((call, next) => {
      if (call.method === 'eth_getTransactionReceipt' && ++polls === 2) void sandbox.mine(1);
      return next(call);
    });
    const participation = await buyTokenSale(client, { ...purchase(wallet), approvalHash }, QUICK);
    await expectCompleted(client, participation.id);
  });

  test('reports an approval that a reorganisation dropped, and a new purchase works', async () => {
    const client = await sandbox.newUser();
    const wallet = await sandbox.newWallet();
    const approvalHash = await crashAfterApproval(client, wallet);
    await sandbox.reorg(1, 'drop');
    const resumed = { ...purchase(wallet), approvalHash };
    const error = await failureOf(buyTokenSale(client, resumed, { ...QUICK, confirmationTimeoutMs: 200 }));
    expect([error.code, error.transactionHash]).toEqual(['transaction_not_found', approvalHash]);
    await expectCompleted(client, (await buyTokenSale(client, purchase(wallet), QUICK)).id);
  });

  test('can be aborted in any phase, and the error has the hash of a pending transaction', async () => {
    const wallet = await sandbox.newWallet();
    const abortIn = async (phase: TokenSalePhase) => {
      const controller = new AbortController();
      const onPhase = (current: TokenSalePhase) => current === phase && controller.abort();
      const options = { ...QUICK, onPhase, signal: controller.signal };
      return failureOf(buyTokenSale(causeway, purchase(wallet), options));
    };
    for (const phase of ['connecting', 'checking', 'approving', 'confirming_approval'] as const) {
      const error = await abortIn(phase);
      expect([error.phase, error.code]).toEqual([phase, 'aborted']);
      expect(error.transactionHash !== undefined).toBe(phase === 'confirming_approval');
    }
    const controller = new AbortController();
    wallet.intercept(hangs('eth_sendTransaction', () => controller.abort()));
    const options = { ...QUICK, signal: controller.signal };
    const error = await failureOf(buyTokenSale(causeway, purchase(wallet), options));
    expect([error.phase, error.code]).toEqual(['approving', 'aborted']);
    expect((await causeway.participations.list()).data).toEqual([]);
  });
});
