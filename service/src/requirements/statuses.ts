import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { UserCaller } from '../http/access.ts';
import type { Offer } from '../offers/catalogue.ts';
import { findOffer, findOption } from '../offers/offer.ts';
import type { OfferOption } from '../offers/stored-offer.ts';
import { readFacts } from './facts.ts';
import type { RequirementStatus, RequirementStatuses } from './schema.ts';
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

/** Throws `requirements_not_met` with the status of every requirement of the option that is not completed. */
export async function assertRequirementsMet(
  ctx: Context,
  caller: UserCaller,
  offer: Offer,
  optionId: string,
): Promise<void> {
  const option = findOption(offer, optionId);
  if (option.requirements.length === 0) return;
  const statuses = Object.entries(await computeStatuses(ctx, caller, [option]));
  const unmet = statuses
    .map(([id, status]) => [id, typeof status === 'string' ? status : status.status] as const)
    .filter(([, status]) => status !== 'completed');
  if (unmet.length > 0)
    throw new ApiError(
      'requirements_not_met',
      Object.fromEntries(unmet.map(([id, status]) => [id, [status]])),
    );
}
