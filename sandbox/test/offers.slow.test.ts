import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REQUIREMENT_TYPES } from '@causeway/service/kernel/model/requirement.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../../service/test/support/service.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'causeway-offers-'));
let service: Service;
let sandbox: Overview;
beforeAll(async () => {
  service = await startService({ CAUSEWAY_DATA: dataDir });
  sandbox = (await read('/sandbox')) as Overview;
});
afterAll(async () => {
  await service.discard();
  rmSync(dataDir, { recursive: true, force: true });
});

type Offer = {
  id: string;
  slug: string;
  type: string;
  state: string;
  options: { id: string; requirements: string[] }[];
};
type Partner = { client_id: string; client_secret: string };
type Overview = { partner: Partner; other_partner: Partner; offers: Offer[]; other_offers: Offer[] };
type Details = {
  asset: { code: string };
  logo_url: string;
  banner_url: string | null;
  options: { sale_agreement_url: string | null }[];
  contracts: { chain: string }[];
};

async function read(path: string, token = ''): Promise<unknown> {
  const reply = await fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } });
  return reply.json();
}

async function partnerToken({ client_id, client_secret }: Partner): Promise<string> {
  const reply = await fetch(`${service.url}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_type: 'client_credentials', client_id, client_secret }),
  });
  return ((await reply.json()) as { access_token: string }).access_token;
}

test('the seeded offers cover every type, state and requirement', async () => {
  const { offers } = sandbox;
  const kinds = offers.map(({ type, state }) => `${type} ${state}`);
  expect(kinds).toEqual(
    expect.arrayContaining([
      'platform::token_sale open',
      'platform::token_sale ended',
      'platform::token_sale upcoming',
      'fund::swap open',
      'tokenized::swap open',
    ]),
  );
  const sale = offers.find(({ type, state }) => type === 'platform::token_sale' && state === 'open');
  const requirementTypes = sale?.options.map(({ requirements }) => requirements) ?? [];
  expect(requirementTypes).toContainEqual([]);
  const allKinds = REQUIREMENT_TYPES.filter((type) => type !== 'acknowledgement');
  expect(requirementTypes.map((types) => types.toSorted())).toContainEqual(allKinds.toSorted());
  const token = await partnerToken(sandbox.partner);
  const requirements = JSON.stringify(await read(`/v1/offers/${sale?.id}/requirements`, token));
  expect(requirements).toContain('"type":"whitelisted_wallet","details":{"max_wallets":3}');
});

test('each partner sees only its own offers', async () => {
  for (const [partner, own, foreign] of [
    [sandbox.partner, sandbox.offers, sandbox.other_offers],
    [sandbox.other_partner, sandbox.other_offers, sandbox.offers],
  ] as const) {
    const token = await partnerToken(partner);
    const { data } = (await read('/v1/offers', token)) as { data: Offer[] };
    expect(data.map(({ slug }) => slug)).toEqual(own.map(({ slug }) => slug));
    for (const { id } of foreign)
      expect(await read(`/v1/offers/${id}`, token)).toMatchObject({ code: 'not_found' });
  }
});

test('two symbols trade, on the first chain only', async () => {
  const token = await partnerToken(sandbox.partner);
  const swaps = sandbox.offers.filter(({ type }) => type === 'tokenized::swap');
  const details = (await Promise.all(swaps.map(({ id }) => read(`/v1/offers/${id}`, token)))) as Details[];
  expect(details.map(({ asset }) => asset.code).sort()).toEqual(['AAPLon', 'TSLAon']);
  expect(details.flatMap(({ contracts }) => contracts.map(({ chain }) => chain))).toEqual([
    'ethereum_sepolia',
    'ethereum_sepolia',
  ]);
});

test('the sandbox serves every image and document its offers link to', async () => {
  for (const [partner, offers] of [
    [sandbox.partner, sandbox.offers],
    [sandbox.other_partner, sandbox.other_offers],
  ] as const) {
    const token = await partnerToken(partner);
    for (const { slug } of offers) {
      const { logo_url, banner_url, options } = (await read(`/v1/offers/${slug}`, token)) as Details;
      const urls = [logo_url, banner_url, ...options.map(({ sale_agreement_url }) => sale_agreement_url)];
      for (const url of urls.filter((url) => url !== null)) {
        expect(url.startsWith(`${service.url}/`)).toBe(true);
        expect((await fetch(url)).status, url).toBe(200);
      }
    }
  }
});

test('offers keep their ids across restarts', async () => {
  await service.stop();
  service = await startService({ CAUSEWAY_DATA: dataDir });
  const restarted = (await read('/sandbox')) as Overview;
  expect([restarted.offers, restarted.other_offers]).toEqual([sandbox.offers, sandbox.other_offers]);
});
