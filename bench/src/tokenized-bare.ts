import { fastify } from 'fastify';
import { Pool } from 'undici';

/** What one would write first: a route that asks the venue each time. */
const { ONDO_URL = '', ONDO_API_KEY = '' } = process.env;
const venue = new Pool(ONDO_URL, { connections: 64 });
const app = fastify();
app.get('/v1/tokenized/swap/quote', async (request) => {
  const { symbol, side, notional_value } = request.query as Record<string, string>;
  const { body } = await venue.request({
    method: 'POST',
    path: '/v1/attestations/soft',
    headers: { 'x-api-key': ONDO_API_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ chainId: 'ethereum-1', symbol, side, notionalValue: notional_value }),
  });
  const quote = (await body.json()) as Record<string, string>;
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
