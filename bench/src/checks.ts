import { compare } from './compare.ts';
import { startTarget, type Target } from './target.ts';
import type { BareRoute } from './targets/bare.ts';
import type { Check } from './targets/checks.ts';

// The routes that pages poll during onboarding, for an offer with four options of seven requirements each. The peer runs
// the same SQL on a plain `pg` pool and returns the same reply without looking at the rows.

const checks = await startTarget<Record<'statuses' | 'eligibility', Check>>('checks');
for (const [name, { ours, bare }] of Object.entries(checks))
  await compare(`${name} of a user`, {
    ours,
    peer: await startTarget<Target>('bare', bare satisfies BareRoute),
    atLeast: 0.65,
    against: 'bare route with the same SQL',
  });
