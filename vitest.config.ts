/** Run by `npm test`, `npm run test:long` and `npm run unit -- FILE` (one file or folder): all start the Node that the project needs. */
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { ClosingLineReporter } from './test/support/closing-line-reporter.ts';

/** Tests that fill memory, and ask for answers in time: they run one after the other, before there is anything else. */
const ALONE = ['test/hostile/{flood,worker-cluster}.test.ts'];

/** These start programs and wait for them, or for time that is real. They come first, as the longest. */
const WAITING = [
  'test/e2e/**/*.test.ts',
  'test/hostile/**/*.test.ts',
  'test/scenario/{submission,submission-queue,submission-wishes,any-submission,client,many-outcomes,import-kueue,worker-namespaces}.test.ts',
  'test/simulation/durability.test.ts',
];

/**
 * Tests that `npm test` leaves to `npm run test:long`: a browser, kubectl, floods, crashes, each situation of recordings and charts, and
 * other files that take longer than twenty seconds of a processor.
 */
const LONG = globSync([
  'test/conformance/{api-cases,cel-costs,job-scenarios,versions}.test.ts',
  'test/e2e/{chart-matrix,cli-canary,cli-jobs,cli-logs,cli-manager,cli-terminal,command-lines,decision-log,documented-examples}.test.ts',
  'test/e2e/{dashboard,dashboard-*,http-submissions,install-manifests,kubectl,kubectl-pods-in-time,kubectl-queues}.test.ts',
  'test/e2e/{metrics-authentication,quick-start,quick-start-kinds,terminal,webhook-rollout}.test.ts',
  'test/hostile/{anonymous-client,flood,many-tokens-of-one-user,producer,redis-fuzz,submission-tenants,tenant,tenant-fuzz}.test.ts',
  'test/hostile/{oidc-adversary,parked-marks,worker-cluster}.test.ts',
  'test/scenario/{absent-worker,admission-writes,canary,carried-objects,charts,client,cluster-lease,cluster-removal,copy-marks}.test.ts',
  'test/scenario/{data-near,described-kind,exactly-once,fair-calls,fenced-kind,finished-work,flapping-cluster,history-stores,hold}.test.ts',
  'test/scenario/{home-restored,import-kueue,job-controllers,kind-ends,kinds-by-situation,leader-election,live-invariants}.test.ts',
  'test/scenario/{live-logs,logs,lost-clusters,lost-work-queue,manager-access,manager-crashes,many-outcomes,moves,needed-objects}.test.ts',
  'test/scenario/{oidc-sign-in,own-certificates,placement,pod-sets,pods-within-quota,replay,restart-writes,restores,submission}.test.ts',
  'test/scenario/{what-if,what-if-played,worker-namespaces,worker-tokens}.test.ts',
  'test/simulation/**/*.test.ts',
  'test/unit/charts/{charts,install-manifests,installation,rights}.test.ts',
  'test/unit/manager/admission/scheduling/no-starvation.test.ts',
  'test/unit/manager/api/quota.test.ts',
  'test/unit/manager/cli/doctor/broken-installations.test.ts',
  'test/unit/manager/insight/estimate/estimate-start.test.ts',
  'test/unit/manager/metrics/series-keeper.test.ts',
  'test/unit/manager/webhook/connections.test.ts',
  'test/unit/shared/controlplane/admission/policy/expressions.test.ts',
  'test/unit/worker/job/chaos.test.ts',
]);
/** `short` or `long`; undefined: both, for files that are named on the command line. */
const suite = process.env['SWITCHYARD_SUITE'];
/** The test files of a project that the suite has. */
function filesOf(include: readonly string[], exclude: readonly string[] = []): { include: string[]; exclude: string[] } {
  const found = suite === undefined ? [...include] : globSync([...include]).filter((file) => LONG.includes(file) === (suite === 'long'));
  return { include: found, exclude: [...configDefaults.exclude, ...exclude] };
}

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
      { extends: true, test: { name: '0 alone', ...filesOf(ALONE), maxWorkers: 1, sequence: { groupOrder: 0 } } },
      { extends: true, test: { name: '1 waiting', ...filesOf(WAITING, ALONE), sequence: { groupOrder: 1 } } },
      {
        extends: true,
        test: {
          name: '2 prompt',
          sequence: { groupOrder: 1 },
          ...filesOf(['test/**/*.test.ts'], [...ALONE, ...WAITING]),
          setupFiles: ['test/support/seeded-properties.ts'],
        },
      },
    ],
  },
});
