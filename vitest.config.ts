/** Run by `npm test` (everything), or `npm run unit -- FILE` (one file or folder): both start the Node that the project needs. */
import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { ClosingLineReporter } from './test/support/closing-line-reporter.ts';

/** These start programs and wait for them, or for time that is real. They come first, as the longest. */
const WAITING = [
  'test/e2e/**/*.test.ts',
  'test/hostile/**/*.test.ts',
  'test/scenario/{submission,submission-queue,submission-wishes,any-submission,client,many-outcomes,import-kueue,worker-namespaces}.test.ts',
  'test/simulation/durability.test.ts',
];

if (Number(process.versions.node.split('.')[0]) < 24)
  throw new Error(`Node ${process.versions.node} is too old for the tests; run them with: npm run unit -- FILE`);

export default defineConfig({
  test: {
    pool: 'forks',
    // Much of the time is spent waiting for processes: with one worker for each core, cores would be idle meanwhile.
    maxWorkers: availableParallelism() + 2,
    // Embedded clusters make much that is soon gone: with V8's usual young generation a quarter of their time is garbage collection.
    execArgv: ['--max-semi-space-size=32'],
    // Many times what tests take on a quiet machine: a busy one may give a process a tenth of a core.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 40_000 } },
    reporters: ['default', new ClosingLineReporter()],
    // There is no module state, so that files may share a process, in which each module is loaded once. That halves what they cost.
    isolate: false,
    // Projects run in the order of their names.
    projects: [
      { extends: true, test: { name: '1 waiting', include: WAITING } },
      {
        extends: true,
        test: {
          name: '2 prompt',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...WAITING],
          setupFiles: ['test/support/seeded-properties.ts'],
        },
      },
    ],
  },
});
