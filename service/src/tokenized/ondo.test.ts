import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ApiError } from '../errors.ts';
import { openOndo } from './ondo.ts';
import { type Venue, VenueFault, VenueRefusal } from './provider.ts';

/** A venue that says what the test wants, one answer after another; the last one again and again. */
type Answer = { status: number; body: unknown };
let answers: Answer[] = [];
let asked: { method: string; url: string; key: string; body: string }[] = [];
let server: Server;
let venue: Venue;

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    asked.push({ method, url, key: String(headers['x-api-key']), body: await read(request) });
    const { status, body } = (answers.length > 1 ? answers.shift() : answers[0]) ?? { status: 500, body: {} };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  asked = [];
  venue = openOndo({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, apiKey: 'the key' });
  return () => venue.close();
});

const say = (...given: (Answer | [number, unknown])[]) => {
  answers = given.map((one) => (Array.isArray(one) ? { status: one[0], body: one[1] } : one));
};
const failure = (code: string) => ({ code, message: code, documentation: 'https://docs.test' });

/** The vendor's sample, with a member that nobody has heard of. */
const soft = {
  chainId: '1',
  symbol: 'AAPLon',
  ticker: 'AAPL',
  assetAddress: '0x14c3abF95Cb9C93a8b82C1CdCB76D72Cb87b2d4c',
  side: '0',
  tokenAmount: '5000000000000000000',
  price: '225273151158540753535',
  sinceYesterday: true,
};
const signature = Buffer.concat([Buffer.alloc(64, 7), Buffer.from([27])]);
const firm = {
  ...soft,
  attestationId: '229852750420835981756873903928305653446',
  userId: '0x474d0000000000009310097834e2c7af',
  expiration: 1_746_655_938,
  signature: signature.toString('base64'),
  additionalData: '',
};
const order = { symbol: 'AAPLon', side: 'buy', notionalValue: '1126.37' } as const;
const open = {
  ...{ timestamp: 1_746_655_938_123, symbol: 'AAPLon', side: 'buy' },
  ...{ maxTokens: '10.5', maxNotionalValue: '2000.000000000000000001', remainingAttestations: '3' },
  isAssetTradingOpen: true,
};

describe('what is asked', () => {
  test('carries the key, the mainnet chain of quotes and exactly one size', async () => {
    say([200, soft]);
    await venue.quote({ ...order, duration: 'long' });
    const [request] = asked;
    expect(request).toMatchObject({ method: 'POST', url: '/v1/attestations/soft', key: 'the key' });
    expect(JSON.parse(request?.body ?? '')).toEqual({ chainId: 'ethereum-1', duration: 'long', ...order });
  });

  test('of an attestation names the chain that it is for', async () => {
    say([200, { ...firm, chainId: '11155111' }]);
    await venue.attest(11_155_111, order);
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({ chainId: 'ethereum-11155111', ...order });
  });
});

describe('units and encodings', () => {
  test('of an indicative quote: integers scaled 1e18, the side as a digit', async () => {
    say([200, soft]);
    expect(await venue.quote(order)).toEqual({
      ...{ chainId: '1', symbol: 'AAPLon', ticker: 'AAPL', side: 'buy' },
      assetAddress: soft.assetAddress.toLowerCase(),
      ...{ quantity: 5_000_000_000_000_000_000n, price: 225_273_151_158_540_753_535n },
    });
  });

  test('of an attestation: seconds, base64 and text aligned to the left', async () => {
    say([200, { ...firm, additionalData: Buffer.from([1, 2]).toString('base64') }]);
    expect(await venue.attest(1, order)).toEqual({
      chainId: 1n,
      attestationId: 229_852_750_420_835_981_756_873_903_928_305_653_446n,
      userId: `0x474d0000000000009310097834e2c7af${'0'.repeat(32)}`,
      asset: soft.assetAddress.toLowerCase(),
      ...{ price: 225_273_151_158_540_753_535n, quantity: 5_000_000_000_000_000_000n },
      ...{ expiration: 1_746_655_938n, side: 0, additionalData: `0x0102${'0'.repeat(60)}` },
      signature: `0x${signature.toString('hex')}`,
    });
  });

  test('of limits: decimals', async () => {
    say([200, open]);
    expect(await venue.tradingLimits('AAPLon', 'buy')).toEqual({
      ...{ isOpen: true, refusal: null, remainingAttestations: 3n },
      ...{ maxTokens: 10_500_000_000_000_000_000n, maxNotional: 2_000_000_000_000_000_000_001n },
    });
  });

  test.each([
    ['an object', (reply: object) => reply],
    ['a list', (reply: object) => [reply]],
  ])('of session limits: %s of dollars', async (_form, wrap) => {
    const block = { tradable: true, maxAttestationCount: '500', maxActiveNotionalValue: '200000' };
    say([200, wrap({ limits: [{ symbol: 'AAPLon', regular: block }], timestamp: 1 })]);
    expect(await venue.sessionLimits('AAPLon')).toEqual({
      regular: { tradable: true, maxActiveNotional: 200_000n * 10n ** 18n },
    });
  });

  test('of the market: text of times, and a status nobody knows is none to trade in', async () => {
    say([200, { marketStatus: 'lunch', nextOpen: '2026-03-02T14:31:00Z', offhours: { isOpen: false } }]);
    expect(await venue.marketState()).toEqual({
      status: 'closed',
      nextOpen: Date.parse('2026-03-02T14:31:00Z'),
      offhours: { isOpen: false, nextOpen: null },
    });
  });

  test('of asset events: `active` is a restriction, and a limit is none', async () => {
    say([
      200,
      [
        { symbol: 'AAPLon', status: 'active', type: 'unscheduled' },
        { symbol: 'TSLAon', status: 'upcoming', type: 'scheduled', end: '2026-03-02T14:31:00Z' },
        { symbol: 'NVDAon', status: 'active', type: 'scheduled', reason: { code: 'ASSET_LIMITED' } },
      ],
    ]);
    expect(await venue.assetPauses()).toEqual([{ symbol: 'AAPLon', until: null }]);
  });
});

describe('a venue that says no', () => {
  const closed = { ...open, maxTokens: '0', maxNotionalValue: '0', isAssetTradingOpen: false };

  test.each([
    ['MARKET_CLOSED', 'market_closed'],
    ['MARKET_PAUSED', 'market_paused'],
    ['ASSET_PAUSED', 'asset_paused'],
    ['ASSET_CLOSED_FOR_SESSION', 'market_closed'],
    ['ASSET_REDEEM_ONLY', 'side_not_allowed'],
    ['MAX_LIMIT_REACHED', 'limit_reached'],
    ['MAX_ATTESTATIONS', 'limit_reached'],
    ['OFFHOURS_EXPOSURE_LIMIT_REACHED', 'limit_reached'],
    ['SOMETHING_NEW', 'asset_paused'],
  ])('%s is %s, in the reply or by a 403', async (code, kind) => {
    for (const answer of [
      { status: 200, body: { ...closed, reason: { code, message: code } } },
      { status: 403, body: failure(code) },
    ]) {
      say(answer);
      const { isOpen, refusal } = await venue.tradingLimits('AAPLon', 'buy');
      expect([isOpen, refusal?.kind, refusal?.code]).toEqual([false, kind, code]);
    }
  });

  test('without a reason is heard too', async () => {
    say([200, closed]);
    expect((await venue.tradingLimits('AAPLon', 'buy')).refusal).toMatchObject({ kind: 'asset_paused' });
  });

  test('by ASSET_LIMITED still trades, only less', async () => {
    say([200, { ...open, reason: { code: 'ASSET_LIMITED' } }]);
    expect(await venue.tradingLimits('AAPLon', 'buy')).toMatchObject({ isOpen: true, refusal: null });
  });

  test.each([
    [400, 'MAX_LIMIT_REACHED', 'limit_reached'],
    [400, 'SESSION_LIMIT_REACHED', 'limit_reached'],
    [400, 'INSUFFICIENT_LIQUIDITY', 'limit_reached'],
    [400, 'INVALID_NOTIONAL_VALUE', 'order_invalid'],
    [400, 'GAS_FEE_EXCEEDS_ORDER_VALUE', 'order_invalid'],
    [400, 'INVALID_SYMBOL', 'symbol_unknown'],
    [404, 'ASSET_NOT_FOUND', 'symbol_unknown'],
  ])('to an order, %i %s: %s', async (status, code, kind) => {
    say([status, failure(code)]);
    const error = await venue.attest(1, order).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(VenueRefusal);
    expect(error).toMatchObject({ kind, code });
    expect(asked).toHaveLength(1);
  });

  test.each([
    [403, { message: 'Forbidden' }],
    [401, failure('INVALID_API_KEY')],
    [403, failure('READ_ONLY_API_KEY')],
    [403, failure('INVALID_ADDRESS')],
    [400, failure('UNSUPPORTED_GM_CHAIN')],
    [400, failure('SOMETHING_NEW')],
    [404, {}],
  ])('to us, %i %j: an operator has to look, and nothing is said of the market', async (status, body) => {
    say([status, body]);
    for (const call of [venue.attest(1, order), venue.tradingLimits('AAPLon', 'buy'), venue.quote(order)]) {
      const error = await call.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ code: 'upstream_error', details: { upstream: 'venue' } });
      expect((error as Error).cause).toBeInstanceOf(VenueFault);
    }
  });
});

describe('a venue that fails', () => {
  test('is asked again for what spends nothing', async () => {
    say([500, failure('INTERNAL_ERROR')], [200, soft]);
    expect((await venue.quote(order)).symbol).toBe('AAPLon');
    expect(asked).toHaveLength(2);
  });

  test('is never asked again for an attestation', async () => {
    say([500, failure('INTERNAL_ERROR')], [200, firm]);
    await expect(venue.attest(1, order)).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect(asked).toHaveLength(1);
  });

  test('by 429 is left alone for a while', async () => {
    say([429, failure('RATE_LIMITED')]);
    await expect(venue.quote(order)).rejects.toMatchObject({ code: 'upstream_unavailable' });
    await expect(venue.quote(order)).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect(asked).toHaveLength(1);
  });

  test.each([
    ['another chain', { chainId: '56' }],
    ['another symbol', { symbol: 'TSLAon' }],
    ['the other side', { side: '1' }],
    ['a short signature', { signature: signature.subarray(1).toString('base64') }],
    ['a price with a point', { price: '1.5' }],
    ['a time in words', { expiration: 'soon' }],
  ])('or answers %s is not believed', async (_what, change) => {
    say([200, { ...firm, ...change }]);
    await expect(venue.attest(1, order)).rejects.toMatchObject({ code: 'upstream_error' });
    expect(asked).toHaveLength(1);
  });
});
