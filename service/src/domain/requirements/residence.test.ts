import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAudited } from '../../../test/support/audited.ts';
import { makeOffer, saleFile } from '../../../test/support/offers.ts';
import { startWorld, type World } from '../../../test/support/providers.ts';
import type { OfferFile } from '../offer-files/file-schema.ts';
import { approveCountry, listCountryChanges } from '../pii/country-change.ts';

let world: World;
let offer: Awaited<ReturnType<typeof makeOffer>>;
beforeAll(async () => {
  world = await startWorld({ countryChangePolicy: 'review' });
  const details = { filter_type: 'reject', filters: [{ country_iso_2: 'US', regions: ['NY'] }] };
  const requirements = [{ type: 'jurisdiction', details }];
  const options = [{ ...saleFile().options[0], requirements }] as OfferFile['options'];
  offer = await makeOffer(world.ctx, saleFile({ options }));
});
afterAll(() => world.close());

type Mover = Awaited<ReturnType<World['newUser']>>;

/** Moves the user to another place, and returns the status of the jurisdiction requirement. */
async function move({ token, userId }: Mover, country: string, state?: string): Promise<unknown> {
  const address = { country, ...(state && { state }) };
  const pii = { first_name: 'A', last_name: 'B', date_of_birth: '1990-01-01', address };
  await world.advance(1);
  await world.review(userId, { level_name: 'BasicKYCLevel', answer: 'GREEN', pii });
  const reply = await world.app.inject({
    url: `/v1/offers/${offer.id}/requirements/statuses`,
    headers: { authorization: `Bearer ${token}` },
  });
  return Object.values(reply.json().statuses)[0];
}

test('a move from a rejected to an accepted region waits for an operator; a harmless one does not', async () => {
  const mover = await world.newUser();
  const { userId } = mover;
  const liveIn = (country: string, state?: string) => move(mover, country, state);
  expect(await liveIn('FR')).toBe('completed');
  expect(await liveIn('DE')).toBe('completed');
  expect(await listCountryChanges(world.ctx)).toEqual([]);
  expect(await liveIn('US', 'N.Y.')).toBe('rejected');
  expect(await liveIn('US', 'New York')).toBe('rejected');
  expect(await liveIn('US', 'Texas')).toBe('in_progress');
  expect(await listCountryChanges(world.ctx)).toEqual([
    {
      user_id: userId,
      email: `${userId}@user.test`,
      changed_at: expect.any(String),
      from: expect.objectContaining({ country: 'US', region: 'New York' }),
      to: { country: 'US', region: 'Texas' },
    },
  ]);
  expect(await approveCountry(world.ctx, userId)).toBe(3);
  expect(await listCountryChanges(world.ctx)).toEqual([]);
  expect(await liveIn('US', 'Texas')).toBe('completed');
  await expectAudited(
    world.ctx,
    'country_change.insert',
    'country_change.update',
    'identity_review.completed',
  );
  await expectAudited(world.ctx, 'requirement.completed', 'requirement.rejected', 'requirement.in_progress');
});

test('moving back and forth does not erase a rejected region', async () => {
  const mover = await world.newUser();
  expect(await move(mover, 'US', 'New York')).toBe('rejected');
  for (let i = 0; i < 21; i++) expect(await move(mover, i % 2 === 0 ? 'FR' : 'DE')).toBe('in_progress');
});
