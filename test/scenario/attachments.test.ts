/**
 * Goal: a submission that brings ConfigMaps has one Job and its ConfigMaps, whatever is lost on the way, and nothing is left when that Job
 * goes. The consumer speaks with an API server and its garbage collector.
 */
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createManagerMetrics } from '../../manager/metrics/metrics.ts';
import { attachmentsOf } from '../../manager/submission/attachments.ts';
import { runConsumer } from '../../manager/submission/consumer.ts';
import type { LedgerEntry } from '../../manager/submission/ledger.ts';
import { shortPayloadHash } from '../../manager/submission/ledger-hash.ts';
import type { SubmissionLedger, TenantLedger } from '../../manager/submission/ledger-store.ts';
import type { Acceptance, Submission, SubmissionQueue } from '../../manager/submission/submission-queue.ts';
import type { WithdrawnJob } from '../../manager/submission/withdrawn-jobs.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';
import type { ConfigMap, Job } from '../../shared/api/kubernetes.ts';
import { CONFIG_MAPS, JOBS, NAMESPACES } from '../../shared/api/resources.ts';
import { createControlPlane, type ControlPlane } from '../../shared/controlplane/control-plane.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { TEST_RECORD_KEYS } from '../support/jobs.ts';
import { aSubmission } from '../support/submissions.ts';
import { testTenant } from '../support/submission-source.ts';

const TENANT = testTenant({ id: 'uid-of-team', label: 'team/batch', namespace: 'team' });
const manifest = (...names: readonly string[]): object => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { generateName: 'train-', labels: { 'switchyard.dev/queue-name': 'main' } },
  spec: {
    template: {
      spec: {
        restartPolicy: 'Never',
        containers: [{ name: 'main', image: 'train', envFrom: names.map((name) => ({ configMapRef: { name } })) }],
      },
    },
  },
});
const TWO = [
  { name: 'settings', data: { rate: '0.1' } },
  { name: 'script', binaryData: { 'run.bin': 'AAEC' } },
];
const DATA = { manifest: manifest('settings', 'script', 'common'), attachments: TWO };
const submission = (data: object = DATA, parts: Partial<Submission> = {}): Submission =>
  aSubmission({ id: 'nightly', submittedAt: 1_000, name: 'train', data, ...parts });

let clock: FakeClock;
let plane: ControlPlane;
let home: KubeClient;
/** What of the ledger is written. */
let written: Map<string, LedgerEntry>;

beforeEach(async () => {
  clock = new FakeClock();
  plane = await createControlPlane({ clock, random: seededRandom(1), log: silentLogger, controllers: ['garbage-collector'] });
  home = createKubeClient(plane.transport(), { userAgent: 'test', clock });
  written = new Map();
  for (const name of ['team', 'rich']) await home.create(NAMESPACES, { metadata: { name } });
  await clock.settle();
});
afterEach(async () => {
  await clock.settle();
  await plane.close();
});

/** Dies at a call: before it is sent, or before its answer is there. */
type Death = { readonly atCall: number; readonly when: 'before' | 'after' };

/** One life of a manager, to which a submission is delivered. */
type Life = {
  cancel(): Promise<void>;
  readonly calls: readonly string[];
  readonly withdrawn: readonly WithdrawnJob[];
  deliver(what?: Submission): Promise<Acceptance | Error>;
};

async function live(death?: Death, tenant = TENANT): Promise<Life> {
  const calls: string[] = [];
  let isDead = false;
  const through = async <T>(what: string, call: () => Promise<T>): Promise<T> => {
    if (isDead) throw new Error('dead');
    calls.push(what);
    const dies = calls.length === death?.atCall;
    isDead = dies && death?.when === 'before';
    if (isDead) throw new Error('dies before it is sent');
    const answer = await call();
    isDead = dies;
    if (dies) throw new Error('dies before the answer');
    return answer;
  };
  const client: KubeClient = {
    ...home,
    get: (...call) => through(`get ${call[0].plural}`, () => home.get(...call)),
    create: (...call) => through(`${call[2]?.dryRun === true ? 'try' : 'create'} ${call[0].plural}`, () => home.create(...call)),
  };
  const withdrawn: WithdrawnJob[] = [];
  const cached = new Map((await home.list(JOBS)).items.map((job) => [`${job.metadata.namespace}/${job.metadata.name}`, job]));
  let accept: ((submission: Submission) => Promise<Acceptance>) | undefined;
  let withdraw: Parameters<SubmissionQueue['consume']>[2];
  await runConsumer(
    {
      kind: JOB_KIND,
      client,
      home: client,
      keys: TEST_RECORD_KEYS,
      clock,
      log: silentLogger,
      metrics: createManagerMetrics(new Registry()).submission,
      jobs: { get: ({ namespace, name }) => cached.get(`${namespace}/${name}`) },
      carryNamespaces: ['team'],
      ledger: ledgerOf(through),
      withdrawnJobs: { withdraw: (job) => void withdrawn.push(job) },
    },
    tenant,
    { consume: async (given, _signal, and) => void ([accept, withdraw] = [given, and]) },
    new AbortController().signal,
  );
  const deliver = (what = submission()): Promise<Acceptance | Error> =>
    accept?.(what).catch((error: unknown) => error as Error) ?? Promise.reject(new Error('nothing is taken'));
  const cancel = async (): Promise<void> => withdraw?.({ ref: submission() });
  return { calls, withdrawn, deliver, cancel };
}

/** Of one life: what it has marked and not written goes with it. */
function ledgerOf(through: (what: string, call: () => Promise<void>) => Promise<void>): SubmissionLedger {
  const known = new Map(written);
  const write = (key: string): Promise<void> =>
    through('write ledger', async () => {
      const entry = known.get(key);
      if (entry !== undefined) written.set(key, entry);
    });
  const of = (): TenantLedger => ({
    get: (key) => known.get(key),
    put(key, entry) {
      known.set(key, entry);
      return write(key);
    },
    isWritten: (key) => written.get(key) === known.get(key),
    written: (key) => (written.get(key) === known.get(key) ? Promise.resolve() : write(key)),
    adopt: (key, entry) => void known.set(key, entry),
    mark(key, transition) {
      const entry = known.get(key);
      const next = entry && transition(entry);
      if (next !== undefined) known.set(key, next);
    },
  });
  return { of, loaded: async () => undefined, run: async () => undefined };
}

const jobs = async (): Promise<readonly Job[]> => (await home.list(JOBS)).items;
const configMaps = async (): Promise<readonly ConfigMap[]> => (await home.list(CONFIG_MAPS, { namespace: 'team' })).items;
const referred = (job: Job | undefined): (string | undefined)[] =>
  (job?.spec.template.spec?.containers?.[0]?.envFrom ?? []).map(({ configMapRef }) => configMapRef?.name);

/** One Job, and the ConfigMaps that its pods refer to, which are its own. */
async function expectWhole(): Promise<void> {
  const [job, another] = await jobs();
  expect(another).toBeUndefined();
  const [settings, script, common] = referred(job);
  expect(common).toBe('common');
  const owned = { apiVersion: 'batch/v1', kind: 'Job', name: job?.metadata.name, uid: job?.metadata.uid };
  const metadata = (name: string | undefined) => ({ name, namespace: 'team', ownerReferences: [owned] });
  expect((await configMaps()).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))).toMatchObject([
    { metadata: metadata(script), binaryData: { 'run.bin': 'AAEC' }, immutable: true },
    { metadata: metadata(settings), data: { rate: '0.1' }, immutable: true },
  ]);
}

async function deleteJob(job: Job | undefined): Promise<void> {
  const key = { namespace: 'team', name: job?.metadata.name ?? '' };
  await home.patch(JOBS, key, { type: 'merge', body: { metadata: { finalizers: null } } });
  await home.delete(JOBS, key, { propagationPolicy: 'Background' });
  await clock.settle();
  await clock.advance(60_000);
}

const messageOf = (answer: Acceptance | Error): string => (answer instanceof Error ? answer.message : 'accepted');
/** The name of the first ConfigMap of {@link DATA}. */
const settingsName = (): string =>
  attachmentsOf({ tenant: TENANT, submission: submission(), made: { payload: shortPayloadHash(DATA), attempt: 1 } })[0]?.configMap ?? '';
const squat = (parts: object = {}, metadata: object = {}): Promise<ConfigMap> =>
  home.create(CONFIG_MAPS, { metadata: { namespace: 'team', name: settingsName(), ...metadata }, data: { rate: '99' }, ...parts });

describe('a submission with ConfigMaps', () => {
  test('becomes a Job that refers to its own, after one question, and they go with the Job', async () => {
    const life = await live();
    expect(await life.deliver()).toMatchObject({ attempt: 1, outcome: undefined });
    expect(life.calls).toEqual(['try configmaps', 'write ledger', 'create jobs', 'create configmaps', 'create configmaps']);
    await expectWhole();
    await deleteJob((await jobs())[0]);
    expect(await configMaps()).toEqual([]);
  });

  test('costs a submission without any no call', async () => {
    const life = await live();
    expect(await life.deliver(submission({ manifest: manifest(), attachments: [] }))).toMatchObject({ attempt: 1 });
    expect(life.calls).toEqual(['write ledger', 'create jobs']);
  });

  test.each(['before', 'after'] as const)(
    'has all once when the manager dies %s any call, and the next one gets it again',
    async (when) => {
      const whole = (await live()).calls;
      expect(whole).toEqual([]);
      for (let atCall = 1; ; atCall++) {
        written.clear();
        const first = await live({ atCall, when });
        const answer = await first.deliver();
        const second = await live();
        expect(messageOf(await second.deliver()), `after call ${atCall}`).toBe('accepted');
        await expectWhole();
        expect(second.withdrawn).toEqual([]);
        // A third time, by a leader who knows no more than is written.
        expect(messageOf(await (await live()).deliver())).toBe('accepted');
        await expectWhole();
        await deleteJob((await jobs())[0]);
        expect(await configMaps()).toEqual([]);
        if (!(answer instanceof Error)) break;
        expect(atCall).toBeLessThan(10);
      }
    },
  );

  test('has all once when two managers take it for themselves at once', async () => {
    const [one, other] = [await live(), await live()];
    const answers = await Promise.all([one.deliver(), other.deliver()]);
    expect(answers.map(messageOf)).toEqual(['accepted', 'accepted']);
    await expectWhole();
  });

  test('of another attempt has a Job and ConfigMaps of its own', async () => {
    await (await live()).deliver();
    const [first] = await jobs();
    const entry = [...written.values()][0] as LedgerEntry;
    const outcome = { kind: 'Failed', failure: { reason: 'BackoffLimitExceeded', message: 'too often' } } as const;
    written.set('nightly', { ...entry, state: 'Ended', uid: first?.metadata.uid ?? '', outcome });
    expect(messageOf(await (await live()).deliver(submission(DATA, { attemptsMade: 1 })))).toBe('accepted');
    expect(new Set((await jobs()).flatMap(referred)).size).toBe(5);
    expect(await configMaps()).toHaveLength(4);
    await deleteJob(first);
    expect((await configMaps()).map(({ metadata }) => metadata.name).toSorted()).toEqual(
      referred((await jobs())[0])
        .slice(0, 2)
        .map(String)
        .toSorted(),
    );
  });

  test.each([1, 2, 3, 4, 5])(
    'that is cancelled before it is accepted leaves no Job, where a manager has died after call %i',
    async (atCall) => {
      await (await live({ atCall, when: 'after' })).deliver();
      const next = await live();
      await next.cancel();
      const [job] = await jobs();
      expect(next.withdrawn.map(({ uid }) => uid)).toEqual(job === undefined ? [] : [job.metadata.uid]);
      if (job !== undefined)
        expect(written.get('nightly')).toMatchObject({ state: 'Ended', outcome: { failure: { reason: 'Cancelled' } } });
      // What is handed out again under this key is refused.
      const again = await (await live()).deliver();
      expect(again).toMatchObject(job === undefined ? { outcome: undefined } : { outcome: { failure: { reason: 'Cancelled' } } });
    },
  );

  test('is a conflict under its key with other content', async () => {
    await (await live()).deliver();
    const other = { ...DATA, attachments: [{ name: 'settings', data: { rate: '0.2' } }, TWO[1]] };
    expect(messageOf(await (await live()).deliver(submission(other)))).toMatch(/^Conflict: the key of the submission was used for another/);
    await expectWhole();
  });

  test('waits for what an earlier Job of this name has left, which the garbage collector deletes', async () => {
    const name = (await (await live()).deliver()) as Acceptance;
    await home.patch(JOBS, name.job, { type: 'merge', body: { metadata: { finalizers: null } } });
    await home.delete(JOBS, name.job, { propagationPolicy: 'Orphan' });
    await clock.settle();
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: name.job.name, uid: name.uid };
    for (const { metadata } of await configMaps()) await home.delete(CONFIG_MAPS, { namespace: 'team', name: metadata.name });
    await squat({ immutable: true }, { ownerReferences: [owner], finalizers: ['example.com/keep'] });
    written.clear();
    expect(messageOf(await (await live()).deliver())).toBe(`configmap team/${settingsName()} of an earlier Job is being deleted`);
    await home.patch(CONFIG_MAPS, { namespace: 'team', name: settingsName() }, { type: 'merge', body: { metadata: { finalizers: null } } });
    await clock.advance(60_000);
    expect(messageOf(await (await live()).deliver())).toBe('accepted');
    await expectWhole();
  });
});

describe('a submission whose ConfigMap somebody else has made', () => {
  test.each(['before', 'after'] as const)('ends, and its Job goes, also when the manager dies %s any call', async (when) => {
    await squat();
    for (let atCall = 1; ; atCall++) {
      written.clear();
      const first = await live({ atCall, when });
      const answer = await first.deliver();
      const isOver = messageOf(answer).startsWith('Rejected: ');
      const last = isOver ? first : await live();
      const said = isOver ? answer : await last.deliver();
      const text = said instanceof Error ? said.message : JSON.stringify(said.outcome);
      expect(text, `after call ${atCall}`).toContain(
        `attachments[0].name: configmap team/${settingsName()} exists already and is not of this submission; delete it, and submit under another key`,
      );
      // It is written before the Job goes, and found by a leader who comes later.
      const [job] = await jobs();
      expect([...written.values()]).toMatchObject([
        { state: 'Ended', uid: job?.metadata.uid, outcome: { failure: { reason: 'Rejected' } } },
      ]);
      if (said instanceof Error) expect(last.withdrawn).toMatchObject([{ tenant: 'uid-of-team', uid: job?.metadata.uid }]);
      await deleteJob(job);
      expect((await configMaps()).map(({ metadata, data }) => [metadata.name, data])).toEqual([[settingsName(), { rate: '99' }]]);
      if (isOver) break;
      expect(atCall).toBeLessThan(10);
    }
  });

  test('is left alone with what is in it, whoever it says owns it', async () => {
    const other = await home.create(JOBS, { ...manifest(), metadata: { namespace: 'team', name: 'other' } } as Job);
    const forged = { apiVersion: 'batch/v1', kind: 'Job', name: 'other', uid: other.metadata.uid };
    await squat({ data: { rate: '0.1' }, immutable: true }, { ownerReferences: [forged] });
    const life = await live();
    expect(messageOf(await life.deliver())).toMatch(/^Rejected: attachments\[0]\.name: .* is not of this submission/);
    expect((await configMaps())[0]?.metadata.ownerReferences).toEqual([forged]);
  });
});

test('in a namespace from which nothing is carried is refused before there is a Job', async () => {
  const life = await live(undefined, { ...TENANT, namespace: 'rich' });
  expect(messageOf(await life.deliver())).toBe(
    'Forbidden: attachments: nothing is carried from the namespace rich; leave them out, or ask an administrator to add it to --carry-namespaces of the manager (chart: carry.namespaces)',
  );
  expect(life.calls).toEqual([]);
  expect(await jobs()).toEqual([]);
});
