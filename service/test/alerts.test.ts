import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readSourceTree } from './support/source-tree.ts';

type Rule = {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook_url: string };
};

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'deploy/alerts');
const rules = readdirSync(FOLDER).flatMap((name) => {
  const { groups } = parse(readFileSync(join(FOLDER, name), 'utf8')) as { groups: { rules: Rule[] }[] };
  return groups.flatMap((group) => group.rules);
});

test('there are alert rules, each with its own name, a summary and a known severity', () => {
  expect(rules.length).toBeGreaterThan(5);
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { annotations, labels } of rules) {
    expect(annotations.summary).not.toBe('');
    expect(['page', 'ticket']).toContain(labels.severity);
  }
});

test('every metric of a rule is one that the service registers', () => {
  const source = readSourceTree().filter(
    ({ path }) => path.startsWith('service/src/') && !/\.test\.ts$/.test(path),
  );
  const names = new Set(
    source.flatMap(({ text }) => [...text.matchAll(/'(causeway_\w+)'/g)].map(([, name]) => name)),
  );
  const used = rules.flatMap(({ expr }) => [...expr.matchAll(/causeway_\w+/g)].map(([name]) => name));
  expect(used.length).toBeGreaterThanOrEqual(rules.length);
  expect(used.filter((name) => !names.has(name))).toEqual([]);
});

test('every rule links to an existing page, and every page belongs to a rule', () => {
  const linked = new Set(rules.map(({ annotations }) => annotations.runbook_url));
  const pages = readdirSync(join(ROOT, 'docs/operate')).map((name) => `docs/operate/${name}`);
  expect([...linked].sort()).toEqual(pages.sort());
});

test('every command of a page exists', () => {
  const source = readFileSync(join(ROOT, 'service/src/main.ts'), 'utf8');
  const files = readSourceTree().filter(({ path }) => /-command\.ts$/.test(path));
  const usage = files.map(({ text }) => text).join('\n');
  for (const page of readdirSync(join(ROOT, 'docs/operate'))) {
    const text = readFileSync(join(ROOT, 'docs/operate', page), 'utf8');
    for (const [, name = '', action = ''] of text.matchAll(/npx causeway (\w+) (\w+)/g)) {
      expect(source, page).toContain(`  ${name}: {`);
      expect(usage, page).toContain(`${name} ${action}`);
    }
  }
});
