import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startWorld, type World } from '../../test/support/providers.ts';
import { eraseUser, tryErasure } from '../pii/erasure.ts';

let world: World;
let userId: string;
let token: string;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  ({ userId, token } = await world.newUser());
});

const post = () =>
  world.app.inject({
    method: 'POST',
    url: '/v1/documents/tax_certification/submission',
    headers: { authorization: `Bearer ${token}` },
    payload: {},
  });
const submissions = () =>
  world.ctx.db
    .selectFrom('document_submissions')
    .select(['status', 'provider_submission_id'])
    .where('user_id', '=', userId)
    .execute();
const mails = async () =>
  (await world.call('documents/mails', {})).mails.filter(({ to }) => to === `${userId}@user.test`);

test('a form that is requested while the user is being erased is not sent', async () => {
  let posted: ReturnType<typeof post> | undefined;
  await tryErasure(world.ctx, userId, 'operator', async () => {
    posted = post();
    await sleep(500);
  });
  expect((await posted)?.json().code).toBe('unauthorized');
  expect([await submissions(), await mails()]).toEqual([[], []]);
});

test('a form that the provider creates after its user was erased is archived', async () => {
  const { documents } = world.ctx;
  const { create } = documents;
  documents.create = async (input) => {
    await eraseUser(world.ctx, userId);
    return create(input);
  };
  await post().finally(() => Object.assign(documents, { create }));
  const [row] = await submissions();
  const { status } = await documents.read(Number(row?.provider_submission_id));
  expect([row?.status, status]).toEqual(['EXPIRED', 'EXPIRED']);
});
