import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ApiError } from '../../kernel/errors.ts';
import { openOndo } from './ondo.ts';
import { type Venue, VenueAccountError, VenueRefusal } from './venue.ts';

/** An answer of the fake venue, which returns `answers` in order and repeats the last one. */
type Answer = { status: number; body: unknown };
let answers: Answer[] = [];
let requests: { method: string; url: string; key: string; body: string }[] = [];
let server: Server;
let venue: Venue;

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    requests.push({ method, url, key: String(headers['x-api-key']), body: await readBody(request) });
    const { status, body } = (answers.length > 1 ? answers.shift() : answers[0]) ?? { status: 500, body: {} };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  requests = [];
  venue = openOndo({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, apiKey: 'the key' });
  return () => venue.close();
});

const respond = (...given: (Answer | [number, unknown])[]) => {
  answers = given.map((answer) => (Array.isArray(answer) ? { status: answer[0], body: answer[1] } : answer));
};
const failure = (code: string) => ({ code, message: code, documentation: 'https://docs.test' });

/** The vendor's sample, plus an unknown member. */
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

describe('requests', () => {
  test('for a quote carry the API key, the mainnet chain id and one size', async () => {
    respond([200, soft]);
    await venue.quote({ ...order, duration: 'long' });
    const [request] = requests;
    expect(request).toMatchObject({ method: 'POST', url: '/v1/attestations/soft', key: 'the key' });
    expect(JSON.parse(request?.body ?? '')).toEqual({ chainId: 'ethereum-1', duration: 'long', ...order });
  });

  test('for an attestation carry its chain id', async () => {
    respond([200, { ...firm, chainId: '11155111' }]);
    await venue.attest(11_155_111, order);
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({ chainId: 'ethereum-11155111', ...order });
  });
});

describe('responses', () => {
  test('of a quote have integers with 18 decimals and a numeric side', async () => {
    respond([200, soft]);
    expect(await venue.quote(order)).toEqual({
      ...{ chainId: '1', symbol: 'AAPLon', ticker: 'AAPL', side: 'buy' },
      assetAddress: soft.assetAddress.toLowerCase(),
      ...{ quantity: 5_000_000_000_000_000_000n, price: 225_273_151_158_540_753_535n },
    });
  });

  test('of an attestation have epoch seconds, base64 and left-aligned text', async () => {
    respond([200, { ...firm, additionalData: Buffer.from([1, 2]).toString('base64') }]);
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

  test('of limits have decimals', async () => {
    respond([200, open]);
    expect(await venue.tradingLimits('AAPLon', 'buy')).toEqual({
      ...{ isOpen: true, refusal: null, remainingAttestations: 3n },
      ...{ maxTokens: 10_500_000_000_000_000_000n, maxNotional: 2_000_000_000_000_000_000_001n },
    });
  });

  test.each([
    ['an object', (reply: object) => reply],
    ['a list', (reply: object) => [reply]],
  ])('of session limits may be %s', async (_form, wrap) => {
    const block = { tradable: true, maxAttestationCount: '500', maxActiveNotionalValue: '200000' };
    respond([200, wrap({ limits: [{ symbol: 'AAPLon', regular: block }], timestamp: 1 })]);
    expect(await venue.sessionLimits('AAPLon')).toEqual({
      regular: { tradable: true, maxActiveNotional: 200_000n * 10n ** 18n },
    });
  });

  test('of the market with an unknown status count as closed', async () => {
    respond([200, { marketStatus: 'lunch', nextOpen: '2026-03-02T14:31:00Z', offhours: { isOpen: false } }]);
    expect(await venue.marketState()).toEqual({
      status: 'closed',
      nextOpen: Date.parse('2026-03-02T14:31:00Z'),
      nextClose: null,
      offhours: { isOpen: false, nextOpen: null, nextClose: null },
    });
  });

  test.each([
    ['closed', true, 'offhours'],
    ['closed', false, 'closed'],
    ['paused', true, 'paused'],
    ['regular', false, 'regular'],
  ])('the market status %s with off-hours trading %s is %s', async (marketStatus, isOpen, status) => {
    respond([200, { marketStatus, isOpen: marketStatus === 'regular', offhours: { isOpen } }]);
    expect(await venue.marketState()).toMatchObject({ status, offhours: { isOpen } });
  });

  test('of asset events list active restrictions, but not limits', async () => {
    respond([
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

describe('a refusal', () => {
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
  ])('%s is %s, in the body or with a 403', async (code, kind) => {
    for (const answer of [
      { status: 200, body: { ...closed, reason: { code, message: code } } },
      { status: 403, body: failure(code) },
    ]) {
      respond(answer);
      const { isOpen, refusal } = await venue.tradingLimits('AAPLon', 'buy');
      expect([isOpen, refusal?.kind, refusal?.code]).toEqual([false, kind, code]);
    }
  });

  test('without a reason is asset_paused', async () => {
    respond([200, closed]);
    expect((await venue.tradingLimits('AAPLon', 'buy')).refusal).toMatchObject({ kind: 'asset_paused' });
  });

  test('is not implied by ASSET_LIMITED', async () => {
    respond([200, { ...open, reason: { code: 'ASSET_LIMITED' } }]);
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
  ])('of an order, %i %s: %s', async (status, code, kind) => {
    respond([status, failure(code)]);
    const error = await venue.attest(1, order).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(VenueRefusal);
    expect(error).toMatchObject({ kind, code });
    expect(requests).toHaveLength(1);
  });

  test.each([
    [403, { message: 'Forbidden' }],
    [401, failure('INVALID_API_KEY')],
    [403, failure('READ_ONLY_API_KEY')],
    [403, failure('INVALID_ADDRESS')],
    [400, failure('UNSUPPORTED_GM_CHAIN')],
    [400, failure('SOMETHING_NEW')],
    [404, {}],
  ])('of our account, %i %j, is an upstream_error', async (status, body) => {
    respond([status, body]);
    for (const call of [venue.attest(1, order), venue.tradingLimits('AAPLon', 'buy'), venue.quote(order)]) {
      const error = await call.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ code: 'upstream_error', details: { upstream: 'venue' } });
      expect((error as Error).cause).toBeInstanceOf(VenueAccountError);
    }
  });
});

describe('a failing venue', () => {
  test('gets a retry of a quote', async () => {
    respond([500, failure('INTERNAL_ERROR')], [200, soft]);
    expect((await venue.quote(order)).symbol).toBe('AAPLon');
    expect(requests).toHaveLength(2);
  });

  test('never gets a retry of an attestation', async () => {
    respond([500, failure('INTERNAL_ERROR')], [200, firm]);
    await expect(venue.attest(1, order)).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect(requests).toHaveLength(1);
  });

  test('is not called for a while after a 429', async () => {
    respond([429, failure('RATE_LIMITED')]);
    await expect(venue.quote(order)).rejects.toMatchObject({ code: 'upstream_unavailable' });
    await expect(venue.quote(order)).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect(requests).toHaveLength(1);
  });

  test.each([
    ['another chain', { chainId: '56' }],
    ['another symbol', { symbol: 'TSLAon' }],
    ['the other side', { side: '1' }],
    ['a short signature', { signature: signature.subarray(1).toString('base64') }],
    ['a price with a decimal point', { price: '1.5' }],
    ['an invalid time', { expiration: 'soon' }],
  ])('that returns %s is not trusted', async (_what, change) => {
    respond([200, { ...firm, ...change }]);
    await expect(venue.attest(1, order)).rejects.toMatchObject({ code: 'upstream_error' });
    expect(requests).toHaveLength(1);
  });
});
