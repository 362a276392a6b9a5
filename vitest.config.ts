import { defineConfig } from 'vitest/config';
import { summaryReporter } from './service/test/setup/summary.ts';

export default defineConfig({
  test: {
    include: ['*/src/**/*.test.ts', '*/test/**/*.test.ts'],
    globalSetup: ['service/test/setup/cluster.ts', 'service/test/setup/browser.ts'],
    setupFiles: ['service/test/setup/network.ts'],
    reporters: ['default', summaryReporter()],
    pool: 'forks',
    maxWorkers: 2,
    // On a shared, busy machine a test of processes and deadlines may miss its moment once; which ones did is printed.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
