import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { startWorld, type World } from '../../../test/support/providers.ts';
import { UpstreamFailure, upstreamError } from '../../platform/outbound/failure.ts';
import { eraseUser, tryErasure } from '../erasure/erasure.ts';
import { archiveNextForm, startDocumentReconciler } from './reconcile.ts';

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
    .select(['id', 'status', 'provider_submission_id'])
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

const toArchive = async () =>
  (await world.ctx.db.selectFrom('forms_to_archive').select('submission_id').execute()).map(
    ({ submission_id }) => submission_id,
  );
const makeDue = () =>
  world.ctx.db.updateTable('forms_to_archive').set({ due_at: '2020-01-01T00:00:00Z' }).execute();
const reconcile = async () => {
  while ((await archiveNextForm(world.ctx)) === 'worked');
};
/** Returns the form's state here, whether it still has to be archived, and its state at the provider. */
const states = async () => {
  const [row] = await submissions();
  const signing = await world.ctx.documents.find(row?.id ?? '');
  return [row?.status, (await toArchive()).includes(row?.id ?? ''), signing?.status];
};
const noResponse = () =>
  Promise.reject(upstreamError('documents', new UpstreamFailure('no_response', 'connection reset')));

/** Returns when the provider archived the form, or null. */
const archivedAt = async (submissionId: bigint | null | undefined) => {
  const { url, apiKey } = world.providers.settings.documents ?? { url: '', apiKey: '' };
  const reply = await fetch(`${url}/submissions/${submissionId}`, { headers: { 'x-auth-token': apiKey } });
  return ((await reply.json()) as { archived_at: string | null }).archived_at;
};

/** Sends a request for a form, while the provider's calls are replaced by `calls`. */
async function postWith(calls: Partial<typeof world.ctx.documents>): Promise<void> {
  const { documents } = world.ctx;
  const original = { ...documents };
  Object.assign(documents, calls);
  await post().finally(() => Object.assign(documents, original));
}

test('an open form is archived', async () => {
  await post();
  await eraseUser(world.ctx, userId, 'requested');
  expect(await states()).toEqual(['EXPIRED', true, 'SENT']);
  const { stop } = await startDocumentReconciler(world.ctx);
  await vi.waitFor(async () => expect(await states()).toEqual(['EXPIRED', false, 'EXPIRED']), 10_000);
  await stop();
});

test('a form that the provider creates after its user was erased is archived', async () => {
  const { create } = world.ctx.documents;
  await postWith({
    create: async (input) => {
      await eraseUser(world.ctx, userId, 'requested');
      return create(input);
    },
  });
  await reconcile();
  expect(await states()).toEqual(['EXPIRED', false, 'EXPIRED']);
});

test('a form is archived although the response to its creation was lost', async () => {
  const { create } = world.ctx.documents;
  await postWith({ create: (input) => create(input).then(noResponse), find: noResponse });
  await eraseUser(world.ctx, userId, 'requested');
  expect(await submissions()).toMatchObject([{ status: 'EXPIRED', provider_submission_id: null }]);
  await reconcile();
  expect(await states()).toEqual(['EXPIRED', false, 'EXPIRED']);
});

test('archiving is repeated until the provider has done it', async () => {
  await post();
  await eraseUser(world.ctx, userId, 'requested');
  await world.call('documents/fault', { mode: 'down' });
  await reconcile();
  await world.call('documents/fault', { mode: 'none' });
  // It waits a minute.
  await reconcile();
  expect(await states()).toEqual(['EXPIRED', true, 'SENT']);
  await makeDue();
  await reconcile();
  expect(await states()).toEqual(['EXPIRED', false, 'EXPIRED']);
});

test('a form that was signed just before is not archived, even if nobody told us', async () => {
  await post();
  await world.call('documents/delivery', { mode: 'drop' });
  const [row] = await submissions();
  await world.call('documents/act', { external_id: row?.id ?? '', action: 'sign' });
  await world.call('documents/delivery', { mode: 'normal' });
  await eraseUser(world.ctx, userId, 'requested');
  expect(await states()).toEqual(['EXPIRED', true, 'COMPLETED']);
  await reconcile();
  expect(await states()).toEqual(['COMPLETED', false, 'COMPLETED']);
  expect(await archivedAt(row?.provider_submission_id)).toBeNull();
});

test('a form that the provider has deleted is forgotten', async () => {
  await post();
  await world.ctx.db
    .updateTable('document_submissions')
    .set({ provider_submission_id: 999_999n })
    .where('user_id', '=', userId)
    .execute();
  await eraseUser(world.ctx, userId, 'requested');
  await reconcile();
  expect(await toArchive()).toEqual([]);
});

test('a form that cannot be archived is forgotten a week after its link has expired', async () => {
  await post();
  await eraseUser(world.ctx, userId, 'requested');
  const { documents } = world.ctx;
  const { archive } = documents;
  documents.archive = noResponse;
  const reconcileAt = async (days: number) => {
    const expires_at = new Date(world.clock.now() - days * 86_400_000).toISOString();
    await world.ctx.db
      .updateTable('document_submissions')
      .set({ expires_at })
      .where('user_id', '=', userId)
      .execute();
    await makeDue();
    await reconcile();
    return (await toArchive()).length;
  };
  const left = [await reconcileAt(6), await reconcileAt(8)];
  documents.archive = archive;
  expect(left).toEqual([1, 0]);
});

test('a form that is given up as never created is archived if it exists after all', async () => {
  const { create } = world.ctx.documents;
  await postWith({
    create: async (input) => {
      const created = await create(input);
      await world.ctx.db
        .updateTable('document_submissions')
        .set({ status: 'EXPIRED' })
        .where('user_id', '=', userId)
        .execute();
      await world.ctx.db.deleteFrom('forms_to_archive').execute();
      return created;
    },
  });
  expect(await states()).toEqual(['EXPIRED', true, 'SENT']);
  await reconcile();
  expect(await states()).toEqual(['EXPIRED', false, 'EXPIRED']);
});

test('a form that the provider never created is forgotten after ten minutes', async () => {
  await postWith({ create: noResponse, find: noResponse });
  await eraseUser(world.ctx, userId, 'requested');
  await reconcile();
  expect(await states()).toEqual(['EXPIRED', true, undefined]);
  await world.advance(11 * 60);
  await makeDue();
  await reconcile();
  expect(await states()).toEqual(['EXPIRED', false, undefined]);
});

test('a form that was replaced is archived, even if that fails at first', async () => {
  await post();
  const [former] = await submissions();
  await world.ctx.db
    .updateTable('document_submissions')
    .set({ form_type: 'w8_ben_e' })
    .where('user_id', '=', userId)
    .execute();
  await postWith({ archive: noResponse });
  expect(await toArchive()).toEqual([former?.id]);
  await reconcile();
  const { status } = await world.ctx.documents.read(Number(former?.provider_submission_id));
  expect([status, await toArchive()]).toEqual(['EXPIRED', []]);
  expect((await submissions()).map((row) => row.status).sort()).toEqual(['EXPIRED', 'SENT']);
});
