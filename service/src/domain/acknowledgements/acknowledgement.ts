import type { UserCaller } from '../../kernel/access.ts';
import { ApiError, invalidField } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { AcknowledgementDetails } from '../../kernel/model/requirement.ts';
import type { OfferOption } from '../../kernel/model/stored-offer.ts';
import { type PageQuery, readPage } from '../../kernel/paging.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import { assertNotEnded } from '../eligibility/decide.ts';
import { findOffer, lockOptions } from '../offers/offer.ts';
import { reportStatuses } from '../requirements/report.ts';
import { shareAccount } from '../users/account.ts';
import type { Acknowledgement, Acknowledgements, NewAcknowledgement } from './schema.ts';
import { type AcknowledgementRow, insertOnce, listAcknowledgements } from './store.ts';

/**
 * Records that the user has read one of the offer's documents. A repeated request returns the first record. Throws
 * `acknowledgement_outdated` if the version or hash in the request is not the current one. Locks the offer, so that its
 * documents cannot change in the meantime.
 */
export async function acknowledge(
  ctx: Context,
  caller: UserCaller,
  idOrSlug: string,
  input: NewAcknowledgement,
  network: string,
): Promise<Acknowledgement> {
  const offer = await findOffer(ctx, caller, idOrSlug);
  assertNotEnded(offer, ctx.clock);
  return ctx.commitReply(async (tx) => {
    const { name, url } = findCurrent(await lockOptions(tx, offer.id, caller.partnerId, ctx.clock), input);
    await shareAccount(tx, caller.userId);
    const { row, isNew } = await insertOnce(tx, {
      id: newId(ctx.clock, ctx.random),
      user_id: caller.userId,
      partner_id: caller.partnerId,
      client_id: caller.clientId,
      offer_id: offer.id,
      ...{ ...input, name, url, network },
      request_id: ctx.requestId,
      inserted_at: toTimestamp(ctx.clock.micros()),
    });
    if (isNew) await reportStatuses(ctx, tx, caller.userId);
    return show(row);
  });
}

/** All options that require the document have the same version of it, so the first match is enough. */
function findCurrent(options: readonly OfferOption[], input: NewAcknowledgement): AcknowledgementDetails {
  const current = options
    .flatMap(({ requirements }) => requirements)
    .flatMap((each) => (each.type === 'acknowledgement' ? [each.details] : []))
    .find(({ document }) => document === input.document);
  if (current === undefined) throw invalidField('document', 'is not a document of this offer');
  const { version, sha256 } = current;
  if (version !== input.version || sha256 !== input.sha256)
    throw new ApiError('acknowledgement_outdated', { version, sha256 });
  return current;
}

/** Lists acknowledgements through all partners: one through any partner counts for every partner. */
export async function listAcknowledged(
  ctx: Context,
  caller: UserCaller,
  idOrSlug: string,
  query: PageQuery,
): Promise<Acknowledgements> {
  const { userId } = caller;
  const { id: offerId } = await findOffer(ctx, caller, idOrSlug);
  const list = `acknowledgements ${userId} ${offerId}`;
  const page = await readPage(ctx.sealing, list, query, (keyset) =>
    listAcknowledgements(ctx.db, { userId, offerId }, keyset),
  );
  return { ...page, data: page.data.map(show) };
}

function show(row: AcknowledgementRow): Acknowledgement {
  const { id, offer_id, document, name, url, version, sha256, inserted_at } = row;
  return {
    object: 'acknowledgement',
    ...{ id, offer_id, document, name, url, version, sha256, inserted_at },
  };
}
