import { expect, test } from 'vitest';
import { createCauseway } from '../../client.ts';
import { createMockService, participationFixture } from '../../testing/index.ts';
import type { OfferDetails, Participation } from '../../wire.ts';
import { readOpenApprovals } from './read-open-approvals.ts';
import type { UnfinishedSale } from './unfinished-sale.ts';

const OWNER = `0x${'ab'.repeat(20)}`;

/**
 * Reads the open approvals of a wallet that approved 100 units. The service lists one participation per page. `others`
 * is called with the token sale and returns offers to add to the service. `unfinished` are approved purchases from
 * other offers.
 */
async function read(
  participations: readonly Participation[],
  others: (offer: OfferDetails) => OfferDetails[] = () => [],
  unfinished: UnfinishedSale[] = [],
) {
  const mock = createMockService({ allowance: '100' });
  const client = createCauseway({
    ...{ baseUrl: 'https://api.test', accessToken: 't' },
    fetch: async (input, init) => {
      const { pathname, searchParams } = new URL(new Request(input, init).url);
      if (pathname !== '/v1/participations') return mock.fetch(input, init);
      const page = Number(searchParams.get('starting_after') ?? 0);
      const next = page + 1 < participations.length ? { starting_after: String(page + 1) } : {};
      return Response.json({ object: 'list', data: participations.slice(page, page + 1), ...next });
    },
  });
  const offer = mock.state.offers.find(({ type }) => type === 'platform::token_sale');
  if (offer === undefined) throw new Error('the mock has no token sale');
  mock.state.offers.push(...others(offer));
  return { offer, approvals: await readOpenApprovals(client, offer, OWNER, () => unfinished, undefined) };
}

test('an allowance is open only if no unsettled participation of the wallet needs any of it', async () => {
  const { offer, approvals } = await read([]);
  const { chain, funding_tokens = [] } = offer.contracts[0] ?? {};
  expect(approvals).toContainEqual({ chain, assetId: funding_tokens[0]?.asset_id, amount: '100' });

  const [asset] = offer.funding_assets;
  if (chain === undefined || asset === undefined) throw new Error('the mock has no contract');
  const other = participationFixture({
    offer_id: offer.id,
    chain,
    asset,
    amount: '40',
    status: 'pending',
    wallet_address: '0x1',
  });
  expect((await read([other, other])).approvals).toEqual(approvals);
  // The wallet's own participation needs only 40 of the 100 units. Even so, none of the allowance is open, because a
  // revocation would remove all of it.
  const mine = { ...other, wallet_address: OWNER.toUpperCase().replace('X', 'x') };
  const rest = approvals.filter((one) => one.chain !== chain || one.assetId !== asset.id);
  expect((await read([other, mine])).approvals).toEqual(rest);
});

test('an allowance is not open if a participation in another offer with the same contract needs it', async () => {
  const { offer, approvals } = await read([]);
  const [{ chain, assetId } = {}] = approvals;
  const asset = offer.funding_assets.find(({ id }) => id === assetId);
  if (chain === undefined || asset === undefined) throw new Error('the mock has no contract');
  const others = (sale: OfferDetails): OfferDetails[] => [
    { ...sale, id: 'same', slug: 'same' },
    {
      ...sale,
      ...{ id: 'different', slug: 'different' },
      contracts: sale.contracts.map((one) => ({ ...one, address: `0x${'12'.repeat(20)}` as const })),
    },
  ];
  const mine = (offer_id: string) =>
    participationFixture({ offer_id, chain, asset, status: 'pending', wallet_address: OWNER });
  for (const id of ['different', 'gone'])
    expect((await read([mine(id)], others)).approvals).toEqual(approvals);
  const rest = approvals.filter((one) => one.chain !== chain || one.assetId !== assetId);
  expect((await read([mine('different'), mine('same')], others)).approvals).toEqual(rest);
});

test('an allowance is not open if an approved purchase from another offer with the same contract needs it', async () => {
  const { offer, approvals } = await read([]);
  const [{ chain, assetId } = {}] = approvals;
  if (chain === undefined || assetId === undefined) throw new Error('the mock has no contract');
  const others = (sale: OfferDetails): OfferDetails[] => [{ ...sale, id: 'same', slug: 'same' }];
  const mine = (offerId: string): UnfinishedSale => ({
    ...{ id: 'i', offerId, optionId: offer.options[0]?.id ?? '', chain, assetId, amount: '100' },
    ...{
      fund: offer.contracts.find((one) => one.chain === chain)?.address ?? '',
      wallet: OWNER,
      approvalHash: '0x1',
    },
  });
  expect((await read([], others, [mine('gone')])).approvals).toEqual(approvals);
  const rest = approvals.filter((one) => one.chain !== chain || one.assetId !== assetId);
  expect((await read([], others, [mine('same')])).approvals).toEqual(rest);
});
