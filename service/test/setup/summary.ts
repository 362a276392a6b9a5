import { mkdirSync, writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** Prints one line of totals at the end of the run, and writes it to a file for CI. */
export function summaryReporter(): Reporter {
  return {
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
      process.stdout.write(`\n${line}\n`);
    },
  };
}
