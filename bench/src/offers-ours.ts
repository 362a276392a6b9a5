import { buildServer } from '@causeway/service/http/server.ts';
import { applyOffers } from '@causeway/service/offers/apply.ts';
import { parseOfferFile } from '@causeway/service/offers/file.ts';
import { publishOffer } from '@causeway/service/offers/lifecycle.ts';
import { offerRoutes } from '@causeway/service/offers/routes.ts';
import { benchContext } from './context.ts';

/** Four offers make a list of about 2 KB, the same size as the list that the bare route returns. */
const OFFERS = 4;

const { ctx, token } = await benchContext();
const files = Array.from({ length: OFFERS }, (_, index) =>
  parseOfferFile(
    `
slug: an-offer-of-a-fine-asset-${index}
type: platform::token_sale
name: A fine asset
tagline: Own a share of something that lasts
starts_at: 2026-01-02T03:04:05.678901Z
logo_url: https://assets.test/logo.svg
banner_url: https://assets.test/banner.svg
asset: usd-coin
funding_assets: [usd-coin]
partners: [Bench]
options:
  - slug: standard
    price_usd: 1.25
assets:
  usd-coin: { code: USDC, name: USD Coin, fractional_digits: 6 }
`,
    { name: 'bench.yaml' },
  ),
);
await applyOffers(ctx, files);
for (const { slug } of files) await publishOffer(ctx, slug);
const app = await buildServer(ctx, offerRoutes);
process.send?.({
  url: `${await app.listen({ host: '127.0.0.1', port: 0 })}/v1/offers`,
  headers: { authorization: `Bearer ${token}` },
});
