import type { Context } from '../../platform/context/context.ts';
import { type FactsOfUser, readAllFacts } from '../requirements/facts.ts';
import { countryPolicy } from '../requirements/residence.ts';
import { requirementStatus } from '../requirements/status.ts';
import type { Rules } from './decide.ts';

/** `changed` lists the keys of the changed rules. The key of a requirement is its id. Null: a new or removed option. */
export type RuleChange = { before: Rules | null; after: Rules | null; changed: readonly string[] };

export type Gains = { gained: number; lost: number };

/** `before`, `after`: how many users are eligible. `rules`: gains and losses if only that rule changed. */
export type RuleImpact = Gains & { before: number; after: number; rules: Map<string, Gains> };

/** Counts how many users would gain or lose eligibility. Reads them in batches, so that they need not fit in memory. */
export async function measureImpact(
  ctx: Pick<Context, 'pool' | 'sealing' | 'config' | 'clock'>,
  changes: readonly RuleChange[],
  onProgress: (done: number) => void,
): Promise<RuleImpact[]> {
  const now = ctx.clock.now();
  const impacts = changes.map(({ changed }) => ({
    ...{ before: 0, after: 0, gained: 0, lost: 0 },
    rules: new Map(changed.map((key) => [key, { gained: 0, lost: 0 }])),
  }));
  const optionIds = changes.flatMap(({ before }) => (before === null ? [] : [before.id]));
  let done = 0;
  for await (const users of readAllFacts(ctx, optionIds)) {
    for (const user of users)
      for (const [i, change] of changes.entries()) count(ctx, impacts[i], change, user, now);
    done += users.length;
    onProgress(done);
  }
  return impacts;
}

function count(
  { config }: Pick<Context, 'config'>,
  impact: RuleImpact | undefined,
  { before, after, changed }: RuleChange,
  user: FactsOfUser,
  now: number,
): void {
  if (impact === undefined) return;
  const failedBefore = before === null ? null : failedRules(before, user, config, now);
  const failedAfter = after === null ? null : failedRules(after, user, config, now);
  const wasEligible = failedBefore?.size === 0;
  const isEligible = failedAfter?.size === 0;
  if (wasEligible) impact.before++;
  if (isEligible) impact.after++;
  add(impact, wasEligible, isEligible);
  if (failedBefore === null || failedAfter === null) return;
  for (const key of changed) {
    const others = failedBefore.size - (failedBefore.has(key) ? 1 : 0);
    const gains = impact.rules.get(key);
    if (gains !== undefined) add(gains, wasEligible, others === 0 && !failedAfter.has(key));
  }
}

function add(gains: Gains, was: boolean, is: boolean): void {
  if (is && !was) gains.gained++;
  if (was && !is) gains.lost++;
}

/**
 * Returns what the user fails: the keys of rules and the codes of general checks. Must agree with `decide`: in both, a
 * requirement passes only if its status is `completed`. Does not call `decide`, because for a million users, building
 * the messages would take most of the time.
 */
function failedRules(
  option: Rules,
  { isHeld, facts }: FactsOfUser,
  config: Context['config'],
  now: number,
): Set<string> {
  const failed = new Set<string>();
  if (isHeld) failed.add('account');
  if (countryPolicy(facts, config) !== 'passed') failed.add('country_policy');
  for (const requirement of option.requirements)
    if (requirementStatus(requirement, option, facts, now) !== 'completed') failed.add(requirement.id);
  return failed;
}
