import type { Requirement } from '../../kernel/model/requirement.ts';
import type { StoredOffer } from '../../kernel/model/stored-offer.ts';
import { stableJson } from '../../kernel/stable-json.ts';
import type { Rules } from '../eligibility/decide.ts';
import type { RuleChange, RuleImpact } from '../eligibility/rule-impact.ts';
import { requirementKey } from './file-rules.ts';
import type { FileRequirement, OfferFile } from './file-schema.ts';

type OptionChange = RuleChange & { offer: string; option: string };

/** Returns the options whose rules differ, and those that the file adds or removes. */
export function findRuleChanges(before: StoredOffer | null, file: OfferFile): OptionChange[] {
  const slugs = new Set([...(before?.options ?? []), ...file.options].map(({ slug }) => slug));
  return [...slugs].flatMap((option) => {
    const stored = before?.options.find(({ slug }) => slug === option);
    const wanted = file.options.find(({ slug }) => slug === option);
    const id = stored?.id ?? '';
    const old = stored === undefined ? null : toRules(id, stored);
    const next = wanted === undefined ? null : toRules(id, wanted);
    const changed = old === null || next === null ? [] : compareRules(old, next);
    if (old !== null && next !== null && changed.length === 0) return [];
    return [{ offer: file.slug, option, before: old, after: next, changed }];
  });
}

type Option = { accreditation_days: number; requirements: readonly { type: string; details: unknown }[] };

function toRules(id: string, { accreditation_days, requirements }: Option): Rules {
  return {
    ...{ id, accreditation_days },
    requirements: requirements.map(({ type, details }) => ({
      ...{ object: 'requirement', type, details },
      id: requirementKey({ type, details } as FileRequirement),
    })) as Requirement[],
  };
}

function compareRules(before: Rules, after: Rules): string[] {
  const old = describeRules(before);
  const next = describeRules(after);
  return [...new Set([...old.keys(), ...next.keys()])].filter((key) => old.get(key) !== next.get(key));
}

function describeRules({ accreditation_days, requirements }: Rules): Map<string, string> {
  return new Map(
    requirements.map(({ id, type, details }) => [
      id,
      stableJson([details, type === 'accreditation' ? accreditation_days : null]),
    ]),
  );
}

/** Formats the impact for the terminal, one line per option and one per changed rule. */
export function describeImpact(
  users: number,
  changes: readonly OptionChange[],
  impacts: readonly RuleImpact[],
): string {
  if (changes.length === 0) return 'No rule changes: no user gains or loses eligibility.';
  const lines = changes.flatMap(({ offer, option, before, after }, i) => {
    const impact = impacts[i];
    if (impact === undefined) return [];
    const at = `${offer}: options.${option}`;
    if (before === null) return [`${at}: new option, ${number(impact.after)} users eligible`];
    if (after === null) return [`${at}: removed option, ${number(impact.before)} users lose it`];
    const total = `${at}: ${number(impact.before)} → ${number(impact.after)} users eligible (${describeGains(impact)})`;
    return [total, ...[...impact.rules].map(([key, gains]) => `  ~ ${key}: ${describeGains(gains)}`)];
  });
  return [`Eligibility of ${number(users)} users:`, ...lines].join('\n');
}

function describeGains({ gained, lost }: { gained: number; lost: number }): string {
  return `${number(gained)} gain, ${number(lost)} lose`;
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}
