import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { createCauseway } from '../../client.ts';
import type { Offer, OfferDetails } from '../../wire.ts';
import { CausewayProvider, OfferHeader, OffersGrid, preload, useOffer } from '../index.ts';

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

/** A service with one offer, and what was asked of it. */
function service() {
  const asked: string[] = [];
  const client = createCauseway({
    ...{ baseUrl: 'http://service.test', accessToken: 't', retries: 0 },
    fetch: async (url) => {
      const { pathname } = new URL(String(url));
      asked.push(pathname);
      if (pathname === '/v1/offers') return Response.json({ object: 'list', data: [offer] });
      if (pathname === '/v1/offers/harbour-quarter') return Response.json(details);
      return Response.json(
        { type: 'api_error', code: 'not_found', message: 'no', errors: {}, event_id: 'e' },
        { status: 404 },
      );
    },
  });
  return { client, asked };
}

function Header() {
  const { data } = useOffer('harbour-quarter');
  return createElement(OfferHeader, { offer: data });
}

function Page() {
  return createElement('div', null, createElement(OffersGrid, {}), createElement(Header));
}

test('what was preloaded is in the first rendering, and nothing is asked for it', async () => {
  const { client, asked } = service();
  const initial = await preload(client, (ask) => [ask.offers(), ask.offer('harbour-quarter')]);
  expect(asked).toEqual(['/v1/offers', '/v1/offers/harbour-quarter']);
  const sent = JSON.parse(JSON.stringify(initial)) as typeof initial;
  const html = renderToString(
    createElement(CausewayProvider, { client, initial: sent, children: createElement(Page) }),
  );
  expect(asked).toHaveLength(2);
  for (const text of ['The Harbour', 'Brick by brick', '$1.25', '<p>One.</p><p>Two.</p>'])
    expect(html).toContain(text);
});

test('without it the server renders that it is loading, and asks for nothing', () => {
  const { client, asked } = service();
  const html = renderToString(createElement(CausewayProvider, { client, children: createElement(Page) }));
  expect(asked).toEqual([]);
  expect(html).toContain('cw-skeleton');
  expect(html).toMatch(/Loading <!-- -->offers/);
});

test('what fails is left out of a preload, for the page to ask again', async () => {
  const { client } = service();
  const initial = await preload(client, (ask) => [ask.offer('unknown'), ask.offers()]);
  expect(Object.keys(initial)).toEqual(['offers:100']);
});
