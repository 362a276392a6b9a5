import { countOfferUse } from '../../domain/offer-files/close-store.ts';
import { listOfferPartners } from '../../domain/offer-files/definition-store.ts';
import { closeOffer, reopenOffer } from '../../domain/offer-files/lifecycle.ts';
import { toOffer } from '../../domain/offers/catalogue.ts';
import { offerState } from '../../domain/offers/offer.ts';
import { readOfferBySlug } from '../../domain/offers/store.ts';
import { UsageError } from '../../kernel/errors.ts';
import type { StoredOffer } from '../../kernel/model/stored-offer.ts';
import { plural } from '../../kernel/plural.ts';
import { requireReason } from './command.ts';
import { confirmByName } from './confirm.ts';
import type { CommandContext } from './run-command.ts';

type Values = { reason?: string; yes?: boolean };

/** Prints what closing the offer would end, asks for confirmation, and closes the offer. */
export async function close(ctx: CommandContext, [slug = '']: string[], values: Values): Promise<void> {
  const reason = requireReason('offer close', values.reason);
  const offer = await readOfferBySlug(ctx.db, slug);
  if (offer === null)
    throw new UsageError(`offer ${slug} does not exist; "causeway offer list" shows all offers`);
  if (offer.closed_at === null) await confirmByName(await previewClose(ctx, offer), slug, values.yes);
  console.error(`${slug}: ${(await closeOffer(ctx, slug, reason)) ? 'closed' : 'already closed'}`);
}

/** Undoes `close`. Asks for no confirmation, because `close` undoes this. */
export async function reopen(ctx: CommandContext, [slug = '']: string[], values: Values): Promise<void> {
  const offer = await reopenOffer(ctx, slug, requireReason('offer reopen', values.reason));
  console.error(`${slug}: reopened, ${describeWindow(offer, readState(ctx, offer))}`);
}

function describeWindow({ starts_at, ends_at }: StoredOffer, state: string): string {
  if (state === 'ended') return `but it ended at ${ends_at}; apply a later ends_at to open it`;
  const start = state === 'upcoming' ? ` from ${starts_at}` : '';
  return `now ${state}${start}${ends_at === null ? '' : ` until ${ends_at}`}`;
}

function readState({ clock }: CommandContext, offer: StoredOffer): string {
  return offer.published_at === null ? 'unpublished' : offerState(toOffer(offer), clock.now());
}

async function previewClose(ctx: CommandContext, offer: StoredOffer): Promise<string[]> {
  const { db } = ctx;
  const partners = await listOfferPartners(db, offer.id);
  const { prepared, pending, submitted, orders } = await countOfferUse(db, offer.id);
  return [
    `This ends the offer ${offer.slug} (${offer.name}, ${offer.type}) now:`,
    `  state: ${readState(ctx, offer)}`,
    `  planned end: ${offer.planned_end ?? 'none'}`,
    `  partners: ${partners.map(({ name }) => name).join(', ')}`,
    `  in progress: ${prepared} prepared, ${pending} pending and ${submitted} submitted participations, ${plural(orders, 'order')}`,
    'Users can no longer invest, and partners get offer.ended. What is in progress is still settled.',
    '"causeway offer reopen" undoes this.',
  ];
}
