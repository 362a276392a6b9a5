import { fastify } from 'fastify';

/** What one would write first: a route that asks the venue each time. */
const [, , venueUrl = '', apiKey = ''] = process.argv;
const app = fastify();
app.get('/v1/tokenized/swap/quote', async (request) => {
  const { symbol, side, notional_value } = request.query as Record<string, string>;
  const reply = await fetch(`${venueUrl}/v1/attestations/soft`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ chainId: 'ethereum-1', symbol, side, notionalValue: notional_value }),
  });
  const quote = (await reply.json()) as Record<string, string>;
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
