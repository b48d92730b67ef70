/**
 * Goal: a manager may be killed between any two of its API calls. Another goes on, and in the end there has been exactly one Job and one
 * copy of each placement, every pod was run once, the outcome is right, and no copy is left.
 */
import { describe, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import type { JobManifest } from '../../manager/policy/prepare-job.ts';
import { SubmissionRefused, type Acceptance, type Outcome, type SubmissionQueue } from '../../manager/submission/submission-queue.ts';
import type { DeepReadonly, KubeObject } from '../../shared/api/kubernetes.ts';
import { JOBS, PODS, type Resource } from '../../shared/api/resources.ts';
import { createInformer } from '../../shared/kube/informer.ts';
import { sleep } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { createLine } from '../support/line.ts';
import { aSubmission } from '../support/submissions.ts';
import { sourceOf } from '../support/submission-source.ts';
import { createWholeWorld, HOME, manifest, NAMESPACE, type JobParts, type RunningProgram, type WholeWorld } from './whole-world.ts';
import { isSlow } from '../support/slow.ts';

type Story = {
  readonly clusters: readonly string[];
  /** Handed to the managers by a queue; otherwise the first step submits the Job. */
  readonly submission?: JobManifest;
  /** How things stand before the first manager starts. */
  readonly before?: (world: WholeWorld) => Promise<void>;
  /** What people do, one after the other, each as soon as its time has come. */
  readonly steps: readonly Step[];
  readonly expected: {
    readonly ending: 'Complete' | 'Failed' | 'gone';
    readonly succeeded?: number;
    /** How many copies there have been, by cluster. */
    readonly copies: Readonly<Record<string, number>>;
    /** How many pods there have been. */
    readonly pods: number;
    readonly outcome?: Outcome['kind'];
  };
};
type Step = { readonly when: (world: WholeWorld) => Promise<boolean>; readonly act: (world: WholeWorld) => Promise<void> };

const RESOURCE_QUOTAS: Resource = { group: '', version: 'v1', plural: 'resourcequotas', kind: 'ResourceQuota', namespaced: true };
const NO_JOBS = { 'count/jobs.batch': '0' };
const LATER_MS = Date.UTC(2026, 0, 1, 0, 0, 20);

const atOnce = async (): Promise<boolean> => true;
const runsOn =
  (cluster: string) =>
  async (world: WholeWorld): Promise<boolean> =>
    (await world.podsOn(cluster)).some(({ status }) => status?.phase === 'Running');
const restsOn =
  (cluster: string) =>
  async (world: WholeWorld): Promise<boolean> =>
    (await world.jobsOn(cluster)).some(({ spec }) => spec.suspend === true);
const hasDone =
  (indexes: number) =>
  async (world: WholeWorld): Promise<boolean> =>
    (await world.job('sum')).status?.succeeded === indexes;
const submitting = (parts: JobParts): Step => ({ when: atOnce, act: (world) => world.submit('sum', parts) });
const setting = (cluster: string, state: 'Active' | 'Draining', when: Step['when']): Step => ({
  when,
  act: async (world) => {
    await world.home.patch(WORKER_CLUSTERS, { namespace: '', name: cluster }, { type: 'merge', body: { spec: { state } } });
  },
});

const STORIES: Readonly<Record<string, Story>> = {
  'a Job that runs to its end': {
    clusters: ['eu-1'],
    steps: [submitting({ spec: { completions: 2 } })],
    expected: { ending: 'Complete', succeeded: 2, copies: { 'eu-1': 1 }, pods: 2 },
  },
  'a submission that runs to its end': {
    clusters: ['eu-1'],
    submission: manifest('sum', { spec: { completions: 2 } }),
    steps: [],
    expected: { ending: 'Complete', succeeded: 2, copies: { 'eu-1': 1 }, pods: 2, outcome: 'Completed' },
  },
  'a submission that fails': {
    clusters: ['eu-1'],
    submission: manifest('sum', { spec: { backoffLimit: 0 }, exitCode: 3 }),
    steps: [],
    expected: { ending: 'Failed', copies: { 'eu-1': 1 }, pods: 1, outcome: 'Failed' },
  },
  'a submission that waits for a ResourceQuota': {
    clusters: ['eu-1'],
    submission: manifest('sum'),
    before: async (world) => {
      await world.home.create(RESOURCE_QUOTAS, { metadata: { name: 'few', namespace: NAMESPACE }, spec: { hard: NO_JOBS } } as never);
    },
    steps: [
      {
        when: async (world) => world.clock.now() > LATER_MS,
        act: (world) => world.home.delete(RESOURCE_QUOTAS, { namespace: NAMESPACE, name: 'few' }),
      },
    ],
    expected: { ending: 'Complete', succeeded: 1, copies: { 'eu-1': 1 }, pods: 1, outcome: 'Completed' },
  },
  'a Job that is suspended in place and resumed there': {
    clusters: ['eu-1'],
    steps: [
      submitting({ spec: { completions: 2, completionMode: 'Indexed' }, seconds: 30 }),
      setting('eu-1', 'Draining', runsOn('eu-1')),
      setting('eu-1', 'Active', restsOn('eu-1')),
    ],
    expected: { ending: 'Complete', succeeded: 2, copies: { 'eu-1': 1 }, pods: 3 },
  },
  'a Job that moves to another cluster': {
    clusters: ['eu-1', 'us-2'],
    steps: [
      setting('us-2', 'Draining', atOnce),
      submitting({ spec: { completions: 2 }, seconds: 30 }),
      setting('us-2', 'Active', runsOn('eu-1')),
      setting('eu-1', 'Draining', runsOn('eu-1')),
    ],
    expected: { ending: 'Complete', succeeded: 2, copies: { 'eu-1': 1, 'us-2': 1 }, pods: 3 },
  },
  'a Job with finished work moves': {
    clusters: ['eu-1', 'us-2'],
    steps: [
      setting('us-2', 'Draining', atOnce),
      submitting({ spec: { completions: 4, parallelism: 2, completionMode: 'Indexed' }, seconds: 60 }),
      setting('us-2', 'Active', runsOn('eu-1')),
      setting('eu-1', 'Draining', hasDone(2)),
    ],
    expected: { ending: 'Complete', succeeded: 4, copies: { 'eu-1': 1, 'us-2': 1 }, pods: 6 },
  },
  'a Job that is deleted while it runs': {
    clusters: ['eu-1'],
    steps: [
      submitting({ seconds: 600 }),
      {
        when: runsOn('eu-1'),
        act: (world) => world.home.delete(JOBS, { namespace: NAMESPACE, name: 'sum' }, { propagationPolicy: 'Background' }),
      },
    ],
    expected: { ending: 'gone', copies: { 'eu-1': 1 }, pods: 1 },
  },
};

const SEED = Number(process.env['SEED'] ?? 1);
/**
 * Of the points at which a manager may be killed (30 to 100 for a story), so many are tried; POINTS=1000 tries all, and SWITCHYARD_SLOW=1
 * twice as many.
 */
const POINTS = Number(process.env['POINTS'] ?? (isSlow ? 8 : 4));

describe.each(Object.entries(STORIES))('%s', (_title, story) => {
  test('ends as it should with one manager all the time, and with one that is killed after any number of calls', async () => {
    const undisturbed = await play(story, undefined);
    expect(undisturbed.findings).toEqual(expectedFindings(story));
    for (const killedAfter of pointsUpTo(undisturbed.calls)) {
      const { findings } = await play(story, killedAfter);
      expect({ killedAfter, ...findings }).toEqual({ killedAfter, ...expectedFindings(story) });
    }
  }, 300_000);
});

test('of two Jobs with room for one, never do two run at once, however often a manager is killed', async () => {
  const random = seededRandom(SEED);
  for (let run = 0; run < POINTS / 2; run++) {
    const world = await createWholeWorld({ clusters: ['eu-1'] });
    world.startWorker('eu-1', 'worker');
    const startDoomed = (name: string): RunningProgram =>
      world.startManager(name, { line: createLine({ callsLeft: 10 + Math.floor(random() * 50) }) });
    let manager = startDoomed('manager-0');
    for (const name of ['one', 'two']) await world.submit(name, { cpu: '10', seconds: 10 });
    for (let seconds = 0; seconds < LIMIT_SECONDS; seconds++) {
      await world.clock.advance(1_000);
      const going = (await world.podsOn('eu-1')).filter(({ status }) => !['Succeeded', 'Failed'].includes(status?.phase ?? ''));
      expect(new Set(going.map(({ metadata }) => metadata.labels?.['job-name'])).size).toBeLessThan(2);
      if (!manager.line.isCut) continue;
      manager.kill();
      manager = startDoomed(`manager-${seconds}`);
    }
    const { items } = await world.home.list(JOBS);
    expect(items.map(({ metadata, status }) => [metadata.name, status?.succeeded])).toEqual([
      ['one', 1],
      ['two', 1],
    ]);
    await world.close();
  }
}, 300_000);

/** One in each of {@link POINTS} stretches of equal length. */
function pointsUpTo(calls: number): readonly number[] {
  const random = seededRandom(SEED);
  const points = Math.min(POINTS, calls);
  return Array.from({ length: points }, (_, index) => 1 + Math.floor(((index + random()) * calls) / points));
}

const expectedFindings = ({ expected: { ending, succeeded, copies, pods, outcome } }: Story) => ({
  ending,
  succeeded: succeeded ?? 0,
  homeJobs: 1,
  copies,
  pods,
  left: [] as string[],
  outcome,
});
type Findings = ReturnType<typeof expectedFindings>;

const LIMIT_SECONDS = 400;

/** Lets a story happen. `calls` is how many the manager made until it was over. */
async function play(story: Story, killAfter: number | undefined): Promise<{ readonly findings: Findings; readonly calls: number }> {
  const world = await createWholeWorld({ clusters: story.clusters });
  const watching = new AbortController();
  const seen = watchEverything(world, story.clusters, watching.signal);
  const queue = story.submission === undefined ? undefined : createMemoryQueue(world, story.submission);
  const parts = queue === undefined ? {} : { submissions: sourceOf(queue) };
  const line = createLine(killAfter === undefined ? {} : { callsLeft: killAfter });
  try {
    await story.before?.(world);
    for (const cluster of story.clusters) world.startWorker(cluster, `worker-${cluster}`);
    const first = world.startManager('first', { line, parts });
    let second: RunningProgram | undefined;
    const steps = [...story.steps];
    for (let seconds = 0; !(steps.length === 0 && (await isOver(world, seen))) && seconds < LIMIT_SECONDS; seconds++) {
      if ((await steps[0]?.when(world)) === true) await steps.shift()?.act(world);
      if (line.isCut && second === undefined) {
        first.kill();
        second = world.startManager('second', { parts });
      }
      await world.clock.advance(1_000);
    }
    const calls = line.sent.filter(({ verb }) => verb !== 'watch').length;
    await world.clock.advance(20_000);
    return { findings: { ...(await endOf(world)), ...seen.findings(), outcome: queue?.outcome()?.kind }, calls };
  } finally {
    watching.abort(new Error('the story is over'));
    await world.close();
  }
}

async function endOf(world: WholeWorld): Promise<Pick<Findings, 'ending' | 'succeeded'>> {
  const { items } = await world.home.list(JOBS);
  const status = items[0]?.status;
  const ending = status?.conditions?.find(({ type, status: value }) => ['Complete', 'Failed'].includes(type) && value === 'True')?.type;
  return { ending: items.length === 0 ? 'gone' : ((ending ?? 'unfinished') as Findings['ending']), succeeded: status?.succeeded ?? 0 };
}

type Seen = { findings(): Pick<Findings, 'homeJobs' | 'copies' | 'pods' | 'left'> };

async function isOver(world: WholeWorld, seen: Seen): Promise<boolean> {
  const { ending } = await endOf(world);
  const { homeJobs, left } = seen.findings();
  return homeJobs > 0 && left.length === 0 && ['Complete', 'Failed', 'gone'].includes(ending);
}

/** Counts every Job and pod that there ever is, apart from the programs under test. */
function watchEverything(world: WholeWorld, clusters: readonly string[], signal: AbortSignal): Seen {
  const seenUids = (cluster: string, resource: Resource) => {
    const uids = new Set<string>();
    const informer = createInformer({ client: world.client(cluster), resource, clock: world.clock, random: () => 0.5, log: silentLogger });
    const note = ({ metadata }: DeepReadonly<KubeObject>): void => void uids.add(metadata.uid);
    informer.addHandler({ added: note, updated: note, deleted: note });
    void informer.run(signal);
    return { uids, informer };
  };
  const home = seenUids(HOME, JOBS);
  const copies = clusters.map((cluster) => [cluster, seenUids(cluster, JOBS)] as const);
  const pods = clusters.map((cluster) => seenUids(cluster, PODS));
  return {
    findings: () => ({
      homeJobs: home.uids.size,
      copies: Object.fromEntries(copies.map(([cluster, { uids }]) => [cluster, uids.size])),
      pods: pods.reduce((sum, { uids }) => sum + uids.size, 0),
      left: [...copies.map(([, { informer }]) => informer), ...pods.map(({ informer }) => informer)].flatMap((informer) =>
        informer.list().map(({ metadata }) => metadata.name),
      ),
    }),
  };
}

/** A queue with one submission, which it hands out until a manager has accepted it, as BullMQ does. */
function createMemoryQueue(world: WholeWorld, data: JobManifest): SubmissionQueue & { outcome(): Outcome | undefined } {
  const submission = aSubmission({ id: '1', submittedAt: 1_000, name: 'sum', data });
  let accepted: Acceptance | undefined;
  let outcome: Outcome | undefined;
  return {
    outcome: () => outcome,
    async consume(accept, signal) {
      while (accepted === undefined && !signal.aborted) {
        await accept(submission).then(
          (acceptance) => {
            accepted = acceptance;
            outcome ??= acceptance.outcome;
          },
          (error: unknown) => {
            if (error instanceof SubmissionRefused) throw error;
            return sleep(world.clock, 1_000, signal);
          },
        );
      }
    },
    async finish({ id }, ending) {
      if (id === submission.id) outcome ??= ending;
    },
    async *parked() {
      if (accepted !== undefined && outcome === undefined) yield [{ ref: submission, attempt: 1, ...accepted }];
    },
    report: async () => undefined,
    close: async () => undefined,
  };
}
