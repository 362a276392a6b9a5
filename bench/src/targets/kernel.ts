import { applyOffers } from '@causeway/service/domain/offer-files/apply.ts';
import { parseOfferFile } from '@causeway/service/domain/offer-files/file.ts';
import { publishOffer } from '@causeway/service/domain/offer-files/lifecycle.ts';
import { offerRoutes } from '@causeway/service/domain/offers/routes.ts';
import { List } from '@causeway/service/kernel/paging.ts';
import { Closed, Nullable, ObjectName, Timestamp } from '@causeway/service/kernel/wire.ts';
import { partnerRoute } from '@causeway/service/platform/http/route.ts';
import { buildServer } from '@causeway/service/platform/http/server.ts';
import Type from 'typebox';
import { benchContext } from './context.ts';

// Serves two lists of about 2 KB: `/v1/things` is serialised for every request, `/v1/offers` is cached.

const Thing = Closed({
  object: ObjectName('thing'),
  id: Type.String(),
  slug: Type.String(),
  tagline: Nullable(Type.String()),
  starts_at: Nullable(Timestamp),
  amount: Type.String(),
  decimals: Type.Integer(),
});
const things = {
  object: 'list' as const,
  data: Array.from({ length: 9 }, (_, i) => ({
    object: 'thing' as const,
    id: `01890000-0000-7000-8000-00000000000${i}`,
    slug: `an-offer-of-a-fine-asset-${i}`,
    tagline: i % 2 === 0 ? null : 'Own a share of something that lasts',
    starts_at: '2026-01-02T03:04:05.678901Z',
    amount: '1000000000000000000',
    decimals: 18,
  })),
};
const thingsRoute = partnerRoute('offers:read', {
  method: 'GET',
  path: '/v1/things',
  operationId: 'listThings',
  summary: 'List',
  reply: List(Thing, 'Things'),
  cache: 'etag',
  handle: async () => things,
});
const offers = Array.from({ length: 4 }, (_, index) => ({
  slug: `an-offer-of-a-fine-asset-${index}`,
  type: 'platform::token_sale',
  name: 'A fine asset',
  tagline: 'Own a share of something that lasts',
  starts_at: '2026-01-02T03:04:05.678901Z',
  logo_url: 'https://assets.test/logo.svg',
  banner_url: 'https://assets.test/banner.svg',
  asset: 'usd-coin',
  funding_assets: ['usd-coin'],
  partners: ['Bench'],
  options: [{ slug: 'standard', price_usd: '1.25' }],
  assets: { 'usd-coin': { code: 'USDC', name: 'USD Coin', fractional_digits: 6 } },
}));

const { ctx, token } = await benchContext();
const files = offers.map((offer) => parseOfferFile(JSON.stringify(offer), { name: 'bench.yaml' }));
await applyOffers(ctx, files);
for (const { slug } of files) await publishOffer(ctx, slug);
const app = await buildServer(ctx, [thingsRoute, ...offerRoutes]);
const url = await app.listen({ host: '127.0.0.1', port: 0 });
const headers = { authorization: `Bearer ${token}` };
process.send?.({
  things: { url: `${url}/v1/things`, headers },
  offers: { url: `${url}/v1/offers`, headers },
});
