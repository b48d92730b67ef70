import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { ClosingLineReporter } from './test/support/closing-line-reporter.ts';

export default defineConfig({
  test: {
    pool: 'forks',
    // Much of the time is spent waiting for processes: a worker less than there are cores, vitest's default, would leave one idle.
    maxWorkers: Math.max(2, availableParallelism()),
    include: ['test/**/*.test.ts'],
    // Many times what tests take on a quiet machine: a busy one may give a process a tenth of a core.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', new ClosingLineReporter()],
  },
});
