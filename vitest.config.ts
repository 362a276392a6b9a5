import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './service/test/setup/order.ts';
import { summaryReporter } from './service/test/setup/summary.ts';

export default defineConfig({
  test: {
    include: ['*/src/**/*.test.ts', '*/test/**/*.test.ts'],
    globalSetup: [
      'service/test/setup/memory.ts',
      'service/test/setup/cluster.ts',
      'service/test/setup/sandboxes.ts',
      'service/test/setup/browser.ts',
    ],
    setupFiles: ['service/test/setup/network.ts', 'service/test/setup/restore.ts'],
    reporters: ['default', summaryReporter()],
    pool: 'forks',
    maxWorkers: 3,
    // Test files that run in the same worker share the loaded modules, because loading the service takes two seconds.
    // Therefore no module may keep state, and a test file must close what it opens and restore what it replaces, even
    // if a test fails.
    isolate: false,
    sequence: { sequencer: SlowestFirst },
    // In CI, a failed test is retried once, because tests of processes and timeouts occasionally fail on a busy
    // machine. The reporter prints which tests were retried.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
