import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { extractDebianPackage } from './support/packages.ts';
import { readSourceTree } from './support/source-tree.ts';

type Rule = {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook_url: string };
};

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'deploy/alerts');
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.yml'));
const pages = readdirSync(join(ROOT, 'docs/operate')).map((name) => {
  const path = join(ROOT, 'docs/operate', name);
  return { name, path, text: readFileSync(path, 'utf8') };
});
const rules = files.flatMap((name) => {
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
  const used = rules.flatMap(({ expr }) =>
    [...expr.matchAll(/causeway_\w+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, '')),
  );
  expect(used.length).toBeGreaterThanOrEqual(rules.length);
  expect(used.filter((name) => !names.has(name))).toEqual([]);
});

const linked = new Set(rules.map(({ annotations }) => annotations.runbook_url));

test('every rule links to an existing page, and the index links to every page', () => {
  const paths = pages.map(({ name }) => `docs/operate/${name}`);
  expect([...linked].filter((path) => !paths.includes(path))).toEqual([]);
  const index = pages.find(({ name }) => name === 'README.md')?.text ?? '';
  const listed = [...index.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target);
  expect([...new Set([...listed, 'README.md'])].sort()).toEqual(pages.map(({ name }) => name).sort());
});

test('every alert page says what the alert means, how to look, what to do and when it is over', () => {
  const headings = ['What it means', 'How to look', 'What to do', 'How to know it is over'];
  for (const { name, text } of pages.filter((page) => linked.has(`docs/operate/${page.name}`))) {
    const found = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect([name, found]).toEqual([name, headings]);
  }
});

test('every reason for which settlement waits has its section', () => {
  const source = readFileSync(join(ROOT, 'service/src/platform/operator/blocked.ts'), 'utf8');
  const reasons = [...source.matchAll(/^ {2}\| '(\w+)'/gm)].map(([, reason]) => reason);
  const page = pages.find(({ name }) => name === 'settlement-blocked.md')?.text ?? '';
  const sections = [...page.matchAll(/^### (\w+)$/gm)].map(([, reason]) => reason);
  expect(reasons.length).toBeGreaterThan(10);
  expect(sections.sort()).toEqual(reasons.sort());
});

test('the links of every page work', () => {
  for (const { name, path, text } of pages) {
    for (const [, target = '', anchor] of text.matchAll(/\]\(([^)#]+)(?:#([^)]+))?\)/g)) {
      const file = join(path, '..', target);
      expect(existsSync(file), `${name} links to ${target}`).toBe(true);
      if (anchor !== undefined)
        expect(anchorsOf(file), `${name} links to ${target}#${anchor}`).toContain(anchor);
    }
  }
});

test('promtool accepts the rules, and they raise what their tests expect', async ({ skip }) => {
  const promtool = providePromtool();
  if (typeof promtool !== 'string') return skip(promtool.problem);
  const run = (...args: string[]) => promisify(execFile)(promtool, args, { cwd: ROOT, timeout: 60_000 });
  for (const file of files)
    expect((await run('check', 'rules', `deploy/alerts/${file}`)).stdout).toContain('SUCCESS');
  for (const file of readdirSync(join(FOLDER, 'tests')))
    await run('test', 'rules', `deploy/alerts/tests/${file}`);
}, 600_000);

/** Returns the path of promtool, Prometheus's own checker, or why it is not available. */
function providePromtool(): string | { problem: string } {
  const installed = '/usr/bin/promtool';
  if (existsSync(installed)) return installed;
  const folder = extractDebianPackage('prometheus');
  return typeof folder === 'string' ? join(folder, 'usr/bin/promtool') : folder;
}

/** Returns the anchors that GitHub derives from the headings of a page. */
function anchorsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
}

test('every command of a page exists', () => {
  const source = readFileSync(join(ROOT, 'service/src/main.ts'), 'utf8');
  const commands = readSourceTree().filter(({ path }) => /-command\.ts$/.test(path));
  const usage = commands.map(({ text }) => text).join('\n');
  for (const { name: page, text } of pages) {
    for (const [, name = '', action = ''] of text.matchAll(/npx causeway (\w+) (\w+)/g)) {
      expect(source, page).toContain(`  ${name}: {`);
      expect(usage, page).toContain(`${name} ${action}`);
    }
  }
});
