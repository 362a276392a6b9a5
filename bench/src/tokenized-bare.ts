import { fastify } from 'fastify';
import { Pool } from 'undici';

/**
 * A plain route for quotes. The argument `mode` selects how the route gets them:
 * - `fetch` calls the venue for every request, with the global `fetch`.
 * - `pool` calls the venue for every request, through a pool of keep-alive connections.
 * - `constant` calls the venue once and repeats the reply. This mode shows the upper bound.
 */
const [, , mode = '', venueUrl = '', apiKey = ''] = process.argv;
const PATH = '/v1/attestations/soft';
const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
const pool = new Pool(venueUrl, { connections: 64, pipelining: 1 });
type Quote = Record<string, string>;

const modes: Record<string, (body: string) => Promise<Quote>> = {
  fetch: async (body) => {
    const reply = await fetch(`${venueUrl}${PATH}`, { method: 'POST', headers, body });
    return (await reply.json()) as Quote;
  },
  pool: async (body) => {
    const reply = await pool.request({ method: 'POST', path: PATH, headers, body });
    return (await reply.body.json()) as Quote;
  },
};
let first: Promise<Quote> | undefined;
modes.constant = (body) => {
  first ??= modes.pool?.(body);
  return first as Promise<Quote>;
};
const readQuote = modes[mode];
if (readQuote === undefined) throw new Error(`unknown mode "${mode}"`);

const app = fastify();
app.get('/v1/tokenized/swap/quote', async (request) => {
  const { symbol, side, notional_value } = request.query as Record<string, string>;
  const quote = await readQuote(
    JSON.stringify({ chainId: 'ethereum-1', symbol, side, notionalValue: notional_value }),
  );
  return {
    object: 'tokenized_swap_quote',
    chain_id: quote.chainId,
    symbol: quote.symbol,
    ticker: quote.ticker,
    asset_address: quote.assetAddress,
    asset_decimals: 18,
    side: quote.side === '0' ? 'buy' : 'sell',
    token_base_units: quote.tokenAmount,
    price: (Number(quote.price) / 1e18).toString(),
  };
});
process.send?.({ url: await app.listen({ host: '127.0.0.1', port: 0 }) });
