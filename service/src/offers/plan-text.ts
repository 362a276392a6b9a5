import type { OfferPlan } from './apply.ts';

const WIDTH = 100;

/** What would change, for people: `+` is new, `-` goes, `~` becomes something else. */
export function describePlans(plans: readonly OfferPlan[]): string {
  return plans.map(describePlan).join('\n');
}

function describePlan({ slug, isNew, changes, refusals }: OfferPlan): string {
  const lines = changes.map(({ path, from, to }) => {
    if (from === null) return `  + ${path}: ${shorten(to ?? '')}`;
    if (to === null) return `  - ${path}: ${shorten(from)}`;
    return `  ~ ${path}: ${shorten(from)} → ${shorten(to)}`;
  });
  const title = isNew ? 'a new offer' : changes.length === 0 ? 'nothing to change' : 'to be changed';
  return [`${slug}: ${title}`, ...lines, ...refusals.map((refusal) => `  ! ${refusal}`)].join('\n');
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > WIDTH ? `${line.slice(0, WIDTH - 1)}…` : line;
}
