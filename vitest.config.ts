import { defineConfig } from 'vitest/config';
import { ClosingLineReporter } from './test/support/closing-line-reporter.ts';

export default defineConfig({
  test: {
    pool: 'forks',
    include: ['test/**/*.test.ts'],
    // Many times what tests take on a quiet machine: a busy one may give a process a tenth of a core.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', new ClosingLineReporter()],
  },
});
