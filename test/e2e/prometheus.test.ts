/**
 * Goal: what dashboards and alerts ask is answered, with the right numbers: by a real Prometheus that scrapes a real installation, in which
 * Jobs have run. It takes a minute, so it is asked for: SWITCHYARD_SLOW=1.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALERTS } from '../../shared/monitoring/alerts.ts';
import { DASHBOARDS } from '../../shared/monitoring/dashboards/dashboards.ts';
import { EXAMPLES } from '../../manager/cli/local/examples.ts';
import { LocalRun } from '../support/local-run.ts';
import { createPrometheus, prometheusProblem, type Prometheus, type Sample } from '../support/prometheus.ts';
import { switchyard } from '../support/switchyard-process.ts';

const LIMIT_MS = 300_000;
const problem = process.env['SWITCHYARD_SLOW'] === undefined ? 'SWITCHYARD_SLOW is not set' : prometheusProblem();

/** So many Jobs are run after the examples, one after the other, so that what is counted already goes on rising. */
const MORE_JOBS = 3;
const ONE_MORE = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'one-more', namespace: 'default', labels: { 'switchyard.dev/queue-name': 'batch' } },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'debian', command: ['true'] }] } } },
};
const FINISHED = EXAMPLES.length + MORE_JOBS + 1;
const FAILED = EXAMPLES.filter(({ ends }) => ends === 'Failed').length;
const BY_REDIS = EXAMPLES.filter(({ through }) => through === 'BullMQ');

const CLUSTERS = ['east', 'west'];
/** A canary may be on its way to each. */
const A_FEW = [0, CLUSTERS.length] as const;
/** And some have come through, of each cluster one a minute. */
const CANARIES_MAX = 30;
const CANARIES = '(sum(switchyard_canary_runs_total{outcome="complete"}) or vector(0))';

/** What is wrong with the answer to a query; undefined where nothing is. */
type Expectation = (samples: readonly Sample[]) => string | undefined;
const each =
  (label: string, names: readonly string[], within: readonly [number, number]): Expectation =>
  (samples) => {
    const missing = names.filter((name) => !samples.some(({ labels }) => labels[label] === name));
    if (missing.length > 0) return `there is no series of ${label} ${missing.join(', ')}`;
    // Of a queue that nothing came into for a while there is no quantile.
    return between(...within)(samples.filter(({ labels, value }) => names.includes(labels[label] ?? '') || !Number.isNaN(value)));
  };
const between =
  (least: number, most: number): Expectation =>
  (samples) => {
    if (samples.length === 0) return 'there is no series';
    const wrong = samples.filter(({ value }) => !(value >= least && value <= most));
    return wrong.length === 0 ? undefined : `not from ${least} to ${most}: ${JSON.stringify(wrong)}`;
  };
const sums =
  (total: number): Expectation =>
  (samples) => {
    const sum = samples.reduce((sofar, { value }) => sofar + value, 0);
    return samples.length > 0 && sum === total ? undefined : `${sum} in ${samples.length} series, and not ${total}`;
  };
/** That many, and canaries. */
const totals =
  (least: number): Expectation =>
  (samples) => {
    const total = samples.reduce((sofar, { value }) => sofar + value, 0);
    return between(least, least + CANARIES_MAX)([{ labels: {}, value: total }]);
  };
const all =
  (...expectations: readonly Expectation[]): Expectation =>
  (samples) =>
    expectations.map((expectation) => expectation(samples)).find((found) => found !== undefined);
const by =
  (label: string, counts: Readonly<Record<string, number>>): Expectation =>
  (samples) => {
    const told = Object.fromEntries(samples.map(({ labels, value }) => [labels[label] ?? '', value]));
    const wrong = Object.entries(counts).filter(([name, count]) => told[name] !== count);
    return wrong.length === 0 ? undefined : `${JSON.stringify(told)}, and not ${JSON.stringify(counts)}`;
  };

/** Jobs of the quick start take seconds, and a second has some hundredths of a Job. */
const A_RATE = between(0, 5);
const SOME_RATE = between(0.001, 5);
/** Where nothing was measured in the last minutes it is no number. */
const A_LATENCY: Expectation = (samples) => {
  const measured = samples.filter(({ value }) => !Number.isNaN(value));
  return measured.length === 0 ? `nothing is measured in ${samples.length} series` : between(0, 30)(measured);
};
/** No canary has to have come through yet. */
const MAYBE =
  (expectation: Expectation): Expectation =>
  (samples) =>
    samples.every(({ value }) => Number.isNaN(value)) ? undefined : expectation(samples.filter(({ value }) => !Number.isNaN(value)));
const A_QUEUE = each('cluster_queue', ['batch'], A_FEW);

const EXPECTED: Readonly<Record<string, readonly Expectation[]>> = {
  'overview/Leading managers': [sums(1)],
  'overview/Clusters ready': [sums(2), sums(2)],
  'overview/Jobs waiting': [between(...A_FEW)],
  'overview/Jobs admitted': [between(...A_FEW)],
  'overview/Jobs finished': [all(by('result', { Failed: FAILED }), totals(FINISHED))],
  'overview/Alerts': [sums(0)],
  'overview/Broken promises': [each('invariant', ['one_copy_runs', 'quota_covers_pods', 'no_finalizers_left'], [0, 0])],
  'overview/Looks a second': [between(0, 10_000)],
  'overview/Jobs a second': [SOME_RATE, SOME_RATE, SOME_RATE],
  'overview/Waiting, by queue': [A_QUEUE],
  'overview/Copies, by cluster': [each('cluster', CLUSTERS, A_FEW)],
  'overview/Canaries a second': [MAYBE(A_RATE)],
  'overview/Their way': [MAYBE(A_LATENCY)],
  'overview/Dropped a second': [between(0, 0), between(0, 0), between(0, 5), between(0, 0)],
  'overview/Depth of the work queues': [each('name', ['mirror', 'waiting-jobs', 'outcomes'], [0, 10])],
  'overview/Versions': [each('job', ['switchyard-manager', 'switchyard-worker'], [1, 3])],
  'overview/Processor time': [each('job', ['switchyard-manager'], [0.00001, 2])],
  'overview/Memory': [each('job', ['switchyard-manager'], [50e6, 1e9])],
  'overview/Event loop lag': [between(0, 2)],
  'queues/Use of nominal quota': [between(0, 1)],
  'queues/Nominal quota': [by('resource', { cpu: 4, memory: 2 ** 30 })],
  'queues/Jobs admitted': [A_QUEUE],
  'queues/Waiting': [each('status', ['active', 'inadmissible'], A_FEW)],
  'queues/Why they wait': [MAYBE(between(...A_FEW))],
  'queues/LocalQueues without figures': [sums(0)],
  'queues/How long the first has waited': [A_QUEUE],
  'queues/Wait for admission': [A_LATENCY, A_LATENCY],
  'queues/Run time': [A_LATENCY],
  'queues/Waiting, by LocalQueue': [each('local_queue', ['batch'], A_FEW)],
  'queues/Admitted, by LocalQueue': [each('local_queue', ['batch'], A_FEW)],
  'queues/Admitted, evicted a second': [SOME_RATE, between(0, 0)],
  'clusters/Ready': [each('cluster', CLUSTERS, [1, 1])],
  'clusters/Conditions': [each('cluster', CLUSTERS, [1, 1])],
  'clusters/Copies': [each('cluster', CLUSTERS, A_FEW)],
  'clusters/Dispatched a second': [A_RATE],
  'clusters/From admission to copy': [A_LATENCY],
  'clusters/Status lag': [A_LATENCY],
  'clusters/Calls a second': [each('cluster', ['home', ...CLUSTERS], [0, 100])],
  'clusters/Depth of the work queues': [each('cluster', CLUSTERS, [0, 10])],
  'clusters/Wait in the work queues': [A_LATENCY],
  'clusters/Watches opened anew a second': [each('cluster', CLUSTERS, [0, 1])],
  'intake/Submissions a second': [A_RATE],
  'intake/Backlog': [each('queue', ['shared'], [0, 0])],
  'intake/Outcomes': [by('result', { completed: BY_REDIS.length - FAILED + 1, failed: FAILED })],
  'intake/From submission to Job': [A_LATENCY],
  'intake/Redis': [sums(1), sums(1)],
  'intake/Memory of Redis': [between(100_000, 1e9), MAYBE(between(1e6, 1e12))],
  'intake/Troubles of Redis': [each('reason', ['Unreachable', 'NotDurable'], [0, 0])],
  'intake/Webhook requests a second': [A_RATE],
  'intake/Time of the webhook': [A_LATENCY],
  'intake/Ledger of submissions': [between(0, BY_REDIS.length + 1)],
  'intake/For how long': [sums(7 * 86_400)],
  'intake/History a second': [by('result', { dropped: 0 })],
  'job-controller/Jobs finished': [totals(FINISHED)],
  'job-controller/Pods finished a second': [A_RATE],
  'job-controller/Pods created a second': [A_RATE],
  'job-controller/Syncs a second': [A_RATE],
  'job-controller/Time of a sync': [between(0, 5)],
  'job-controller/Ended pods with their finalizer': [between(...A_FEW)],
  'job-controller/Depth of the work queues': [each('name', ['job'], [0, 10])],
  'job-controller/Wait in the work queues': [each('name', ['job'], [0, 30])],
  'job-controller/Fenced': [between(0, 0)],
  'slo/Dispatched in time': [between(0.01, 1)],
  'slo/Home in time': [between(0.01, 1)],
  'slo/Cycles in time': [between(0.01, 1)],
  'slo/Syncs in time': [between(0.01, 1)],
  'slo/Leading': [between(0.01, 1)],
  'slo/Intake open': [between(0.1, 1)],
  'slo/Canaries through': [MAYBE(between(0.01, 1))],
  'slo/Way of canaries': [MAYBE(A_LATENCY)],
  'slo/Wait for admission': [A_LATENCY, A_LATENCY],
  'slo/From admission to copy': [A_LATENCY, A_LATENCY],
  'slo/Status lag': [A_LATENCY, A_LATENCY],
};

const PANELS = DASHBOARDS.flatMap((dashboard) =>
  dashboard.rows.flatMap(({ panels }) =>
    panels.map((panel) => ({ name: `${dashboard.uid.replace('switchyard-', '')}/${panel.title}`, panel, dashboard })),
  ),
);
/** There is no series of these, and why. */
const ABSENT: readonly (readonly [RegExp, why: string])[] = [
  [/^apiserver_/, 'the quick start has no kube-apiserver'],
  [/^switchyard_cluster_not_ready$/, 'every cluster is ready'],
  [/^switchyard_pending_workloads_by_reason$/, 'nobody waits'],
  [/^switchyard_redis_memory_max_bytes$/, 'the Redis of the quick start has no limit'],
  [/^switchyard_canary_runs_total$/, 'no canary has to have come through yet'],
  [/^switchyard_worker_token_expires_seconds$/, 'the kubeconfigs of the quick start have tokens that do not say when they end'],
  [/^switchyard_certificate_not_after_seconds$/, 'the webhook serves a certificate that the quick start has made'],
];

test('every panel has an expectation, and every expectation a panel', () => {
  expect(Object.keys(EXPECTED).toSorted()).toEqual([...new Set(PANELS.map(({ name }) => name))].toSorted());
});

describe.skipIf(problem !== undefined)(
  `a Prometheus beside the quick start${problem === undefined ? '' : ` (skipped: ${problem})`}`,
  () => {
    let run: LocalRun;
    let prometheus: Prometheus;

    beforeAll(async () => {
      run = new LocalRun({ args: ['--keep', '--prometheus'] });
      await run.waitFor(/Everything stays up/);
      const [, url = ''] = /^prometheus (http:\S+) /m.exec(run.output) ?? [];
      prometheus = createPrometheus(url);
      for (let index = 0; index < MORE_JOBS; index++) {
        const { code, stderr } = await switchyard(['run', '--image', 'debian', '--', 'true'], {
          kubeconfig: run.file('manager.kubeconfig'),
        });
        expect({ code, stderr }).toMatchObject({ code: 0 });
      }
      // And one by Redis.
      const manifest = path.join(run.directory, 'more.json');
      writeFileSync(manifest, JSON.stringify(ONE_MORE));
      const [, redis = ''] = /^ +redis +(redis:\S+)$/m.exec(run.output) ?? [];
      const submitted = await switchyard(['submit', manifest, '--via', 'redis', '--redis-url', redis, '--wait'], {
        kubeconfig: run.file('manager.kubeconfig'),
      });
      expect(submitted).toMatchObject({ code: 0 });
      // Scraped since all of them have ended, wherever that is told.
      await prometheus.becomes(`sum(switchyard_finished_workloads_total) - ${CANARIES}`, FINISHED);
      await prometheus.becomes(`sum(job_controller_jobs_finished_total) - ${CANARIES}`, FINISHED);
      await prometheus.becomes('sum(switchyard_remote_copies)', 0);
      await prometheus.becomes('sum(switchyard_admitted_active_workloads)', 0);
    }, LIMIT_MS);
    afterAll(async () => run[Symbol.asyncDispose]());

    test.each(PANELS)('$name', async ({ name, panel, dashboard }) => {
      const expectations = EXPECTED[name] ?? [];
      const problems = await Promise.all(
        panel.queries.map(async ({ expr }, index) => expectations[index]?.(await prometheus.ofDashboard(dashboard, expr)) ?? undefined),
      );
      expect(expectations).toHaveLength(panel.queries.length);
      expect(problems.filter((each) => each !== undefined)).toEqual([]);
    });

    test('every series that an alert judges is there', async () => {
      const names = new Set(ALERTS.flatMap(({ expr }) => [...expr.matchAll(/\b([a-z_]+)\{/g)].map(([, name = '']) => name)));
      const missing = [];
      for (const name of names)
        if (!ABSENT.some(([pattern]) => pattern.test(name)) && (await prometheus.query(`count(${name})`)).length === 0) missing.push(name);
      expect(missing).toEqual([]);
    });

    test('every alert can be judged, and none is heard', async () => {
      const rules = await prometheus.rules();
      expect(rules.map(({ name }) => name).toSorted()).toEqual(ALERTS.map(({ name }) => name).toSorted());
      expect(rules.filter(({ health, state }) => health !== 'ok' || state === 'firing')).toEqual([]);
      // What has only just happened is waited for, such as a pod that has ended and is being counted.
      await prometheus.becomes('count(ALERTS) or vector(0)', 0);
    });
  },
);
