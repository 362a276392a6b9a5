import { requireReason, UsageError } from '../operations/command.ts';
import { confirmByName } from '../operations/confirm.ts';
import type { CommandContext } from '../operations/run-command.ts';
import { plural } from '../plural.ts';
import { toOffer } from './catalogue.ts';
import { countOfferUse } from './close-store.ts';
import { listOfferPartners } from './definition-store.ts';
import { closeOffer } from './lifecycle.ts';
import { offerState } from './offer.ts';
import { readOfferBySlug } from './store.ts';
import type { StoredOffer } from './stored-offer.ts';

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

async function previewClose({ db, clock }: CommandContext, offer: StoredOffer): Promise<string[]> {
  const partners = await listOfferPartners(db, offer.id);
  const { prepared, pending, submitted, orders } = await countOfferUse(db, offer.id);
  const state = offer.published_at === null ? 'unpublished' : offerState(toOffer(offer), clock.now());
  return [
    `This ends the offer ${offer.slug} (${offer.name}, ${offer.type}) now:`,
    `  state: ${state}`,
    `  planned end: ${offer.planned_end ?? 'none'}`,
    `  partners: ${partners.map(({ name }) => name).join(', ')}`,
    `  in progress: ${prepared} prepared, ${pending} pending and ${submitted} submitted participations, ${plural(orders, 'order')}`,
    'Users can no longer invest, and partners get offer.ended. What is in progress is still settled.',
  ];
}
