import type { UserCaller } from '../../kernel/access.ts';
import { ApiError } from '../../kernel/errors.ts';
import type { RequirementStatus, RequirementStatuses } from '../../kernel/model/requirement.ts';
import type { OfferOption } from '../../kernel/model/stored-offer.ts';
import type { Context } from '../../platform/context/context.ts';
import { findOffer } from '../offers/offer.ts';
import { readFacts } from './facts.ts';
import { requirementStatus } from './status.ts';

/** Returns the user's status for every requirement of every option of the offer. */
export async function readStatuses(
  ctx: Context,
  caller: UserCaller,
  idOrSlug: string,
): Promise<RequirementStatuses> {
  const offer = await findOffer(ctx, caller, idOrSlug);
  const statuses = await computeStatuses(ctx, caller, offer.options);
  return { object: 'requirement_statuses', offer_id: offer.id, statuses };
}

async function computeStatuses(
  ctx: Context,
  { userId }: UserCaller,
  options: readonly OfferOption[],
): Promise<Record<string, RequirementStatus>> {
  const facts = await readFacts(
    ctx,
    ctx.db,
    userId,
    options.map(({ id }) => id),
  );
  if (facts === null) throw new ApiError('not_found');
  const now = ctx.clock.now();
  const statuses: Record<string, RequirementStatus> = {};
  for (const option of options)
    for (const requirement of option.requirements)
      statuses[requirement.id] = requirementStatus(requirement, option, facts, now);
  return statuses;
}
