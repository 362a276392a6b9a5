import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

const SLOW = '.slow.test.ts';

/**
 * Prints one line of totals at the end of the run, and writes it to a file for CI. Before it comes what the run left
 * out, if it left out the slow files.
 */
export function summaryReporter(): Reporter {
  let leftOut = '';
  return {
    onInit({ config }: Vitest) {
      const files = config.exclude.includes(`**/*${SLOW}`) ? countSlowFiles() : 0;
      if (files > 0)
        leftOut = `Left out: ${files} slow files (whole processes, browsers, package installs, guides, and settlement under faults). Run them with \`npm run test:slow\`, or all with \`npm run test:all\`.\n`;
    },
    onTestRunEnd(modules: ReadonlyArray<TestModule>) {
      const count = { passed: 0, failed: 0, skipped: 0 };
      for (const module of modules) {
        if (module.errors().length > 0) count.failed++;
        for (const test of module.children.allTests()) {
          const { state } = test.result();
          count[state === 'pending' ? 'skipped' : state]++;
          if (test.diagnostic()?.flaky) process.stdout.write(`\npassed on retry: ${test.fullName}\n`);
        }
      }
      const line = `${count.passed} passed, ${count.failed} failed${count.skipped > 0 ? `, ${count.skipped} skipped` : ''}`;
      mkdirSync('artifacts', { recursive: true });
      writeFileSync('artifacts/tests.txt', `${line}\n`);
      process.stdout.write(`\n${leftOut}${line}\n`);
    },
  };
}

function countSlowFiles(): number {
  const folders = readdirSync('.').flatMap((name) => [`${name}/src`, `${name}/test`]);
  return folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    .filter((path) => path.endsWith(SLOW)).length;
}
