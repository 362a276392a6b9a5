import type { OfferPlan } from './apply.ts';

const MAX_VALUE_LENGTH = 100;

/** Formats plans for the terminal: `+` adds, `-` removes, `~` changes. */
export function describePlans(plans: readonly OfferPlan[]): string {
  return plans.map(describePlan).join('\n');
}

function describePlan({ slug, isNew, changes, refusals }: OfferPlan): string {
  const lines = changes.map(({ path, from, to }) => {
    if (from === null) return `  + ${path}: ${shorten(to ?? '')}`;
    if (to === null) return `  - ${path}: ${shorten(from)}`;
    return `  ~ ${path}: ${shorten(from)} → ${shorten(to)}`;
  });
  const title = isNew ? 'new offer' : changes.length === 0 ? 'no changes' : 'changes';
  return [`${slug}: ${title}`, ...lines, ...refusals.map((refusal) => `  ! ${refusal}`)].join('\n');
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > MAX_VALUE_LENGTH ? `${line.slice(0, MAX_VALUE_LENGTH - 1)}…` : line;
}
