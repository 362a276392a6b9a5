import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { createCauseway } from '../../client.ts';
import type { Page as ListPage } from '../../paging.ts';
import { queries } from '../../queries.ts';
import { offerFixture } from '../../testing/index.ts';
import type { Offer, OfferDetails } from '../../wire.ts';
import {
  CausewayProvider,
  InitialData,
  OfferHeader,
  OffersGrid,
  preload,
  useFundSwap,
  useOffer,
  useOffers,
} from '../index.ts';

const option = {
  ...{ id: 'o1', slug: 'public', price_usd: '1.25', floor_price_usd: null, bid_increment: null },
  ...{ minimum_purchase_usd: '10', total_token_supply: null, sale_agreement_url: null },
};
const offer: Offer = {
  ...{ object: 'offer', id: 'id-1', slug: 'harbour-quarter', type: 'platform::token_sale' },
  ...{ tagline: 'Brick by brick', starts_at: null, ends_at: null, logo_url: '/logo.svg', banner_url: null },
  options: [option],
};
const asset = { id: 'hbq', code: 'HBQ', name: 'Harbour', fractional_digits: 18 };
const details: OfferDetails = {
  ...{ ...offer, object: 'offer_details', name: 'The Harbour', about: 'One.\n\nTwo.', category: null, asset },
  ...{ funding_assets: [], terms: [], links: [], faqs: [], milestones: [], contracts: [] },
};

/** A client for a service with one offer, and the paths that the client requested. */
function fakeService() {
  const requested: string[] = [];
  const client = createCauseway({
    ...{ baseUrl: 'http://service.test', accessToken: 't', retries: 0 },
    fetch: async (url) => {
      const { pathname } = new URL(String(url));
      requested.push(pathname);
      if (pathname === '/v1/offers') return Response.json({ object: 'list', data: [offer] });
      if (pathname === '/v1/offers/harbour-quarter') return Response.json(details);
      return Response.json(
        { type: 'api_error', code: 'not_found', message: 'no', errors: {}, event_id: 'e' },
        { status: 404 },
      );
    },
  });
  return { client, requested };
}

function Header() {
  const { data } = useOffer('harbour-quarter');
  return createElement(OfferHeader, { offer: data });
}

function Page() {
  return createElement('div', null, createElement(OffersGrid, {}), createElement(Header));
}

test('preloaded data is in the first render and sends no further request', async () => {
  const { client, requested } = fakeService();
  const initial = await preload(client, (queries) => [queries.offers(), queries.offer('harbour-quarter')]);
  expect(requested).toEqual(['/v1/offers', '/v1/offers/harbour-quarter']);
  const sent = JSON.parse(JSON.stringify(initial)) as typeof initial;
  const html = renderToString(
    createElement(CausewayProvider, { client, initial: sent, children: createElement(Page) }),
  );
  expect(requested).toHaveLength(2);
  for (const text of ['The Harbour', 'Brick by brick', '$1.25', '<p>One.</p><p>Two.</p>'])
    expect(html).toContain(text);
});

test('each page brings its own data to the provider of the layout', async () => {
  const { client, requested } = fakeService();
  const data = await preload(client, (queries) => [queries.offers(), queries.offer('harbour-quarter')]);
  const page = createElement(InitialData, { data, children: createElement(Page) });
  const html = renderToString(createElement(CausewayProvider, { client, children: page }));
  for (const text of ['The Harbour', 'Brick by brick', '$1.25']) expect(html).toContain(text);
  expect(requested).toHaveLength(2);
});

test('a hook shows the initial data that its page has, without a request', () => {
  const { client, requested } = fakeService();
  const offers: ListPage<Offer> = { object: 'list', data: [offer], starting_after: 'more' };
  function Both() {
    const { data, isLoading } = useOffer('harbour-quarter', { initialData: details });
    const list = useOffers({ initialData: offers });
    return createElement('p', {}, [data?.name, isLoading, list.data?.length, list.hasMore].join(' '));
  }
  const html = renderToString(createElement(CausewayProvider, { client, children: createElement(Both) }));
  expect(html).toBe('<p>The Harbour false 1 true</p>');
  expect(requested).toEqual([]);
});

test('an appearance applies to everything inside the provider', () => {
  const { client } = fakeService();
  const appearance = { theme: 'dark', variables: { accent: '#123456', radius: '0' } } as const;
  const children = createElement(OffersGrid, { className: 'mine' });
  const html = renderToString(createElement(CausewayProvider, { client, appearance, children }));
  const style = 'display:contents;--cw-accent:#123456;--cw-radius:0';
  expect(html.startsWith(`<div data-theme="dark" style="${style}"><div class="cw mine">`)).toBe(true);
});

test('without preloaded data the server renders skeletons and sends no request', () => {
  const { client, requested } = fakeService();
  const html = renderToString(createElement(CausewayProvider, { client, children: createElement(Page) }));
  expect(requested).toEqual([]);
  expect(html).toContain('cw-skeleton');
  expect(html).toContain('Loading offers…');
});

test('a failed query is left out of the preloaded data, so the page loads it', async () => {
  const { client } = fakeService();
  const initial = await preload(client, (queries) => [queries.offer('unknown'), queries.offers()]);
  expect(Object.keys(initial)).toEqual(['offers:100']);
});

test.each([
  [18, 'TBF2 18'],
  [2, ''],
])('a payout token with %s decimals is shown only if the offer says the same', (decimals, shown) => {
  const { client } = fakeService();
  const fund = offerFixture('fund::swap');
  const [contract] = fund.contracts;
  const query = { contract_address: contract?.address ?? '', chain: 'ethereum_sepolia' } as const;
  const token = { object: 'swap_output_token', name: 'Fund', symbol: 'TBF2', decimals };
  function Output() {
    const { output } = useFundSwap({ offer: fund });
    return createElement('p', {}, output && `${output.symbol} ${output.decimals}`);
  }
  const initial = { [queries.swapOutputToken(query).key]: token };
  const page = createElement(CausewayProvider, { client, initial, children: createElement(Output) });
  expect(renderToString(page)).toBe(`<p>${shown}</p>`);
});
