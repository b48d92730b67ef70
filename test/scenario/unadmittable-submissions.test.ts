/** Goal: whoever submits a Job that can never be admitted hears so soon, and nothing of it is left; what only has to wait, waits. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Acceptance, Outcome, Submission, SubmissionQueue } from '../../manager/submission/submission-queue.ts';
import { QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { aborted } from '../../shared/runtime/tasks.ts';
import { sourceOf } from '../support/submission-source.ts';
import { aSubmission } from '../support/submissions.ts';
import { createDispatchWorld, NAMESPACE, type DispatchWorld } from './dispatch-world.ts';

let outcomes: Map<string, Outcome>;
let world: DispatchWorld;
let accept: ((submission: Submission) => Promise<Acceptance>) | undefined;

async function start(onUnadmittable: 'Fail' | 'Wait'): Promise<void> {
  outcomes = new Map();
  const queue: SubmissionQueue = {
    consume: async (given, signal) => {
      accept = given;
      await aborted(signal);
    },
    finish: async ({ id }, outcome) => void (outcomes.has(id) || outcomes.set(id, outcome)),
    parked: async function* () {},
    report: async () => undefined,
    close: async () => undefined,
  };
  world = await createDispatchWorld({ workers: ['eu-1'], submissions: sourceOf(queue, { namespace: NAMESPACE, onUnadmittable }) });
  await world.settle(1_000);
}
beforeEach(() => (accept = undefined));
afterEach(() => world.close());

/** A Job that asks for so much cpu, in a LocalQueue. */
async function submit(id: string, cpu: string, queue = 'main'): Promise<Acceptance | undefined> {
  const containers = [{ name: 'main', image: 'busybox', resources: { requests: { cpu } } }];
  const manifest = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: id, labels: { [QUEUE_NAME_LABEL]: queue } },
    spec: { template: { spec: { restartPolicy: 'Never', containers } } },
  };
  const accepted = accept?.(aSubmission({ id, submittedAt: 1, name: id, data: { manifest } }));
  await world.settle(2_000); // What the ledger writes it writes within a second.
  return accepted;
}
const jobs = async (): Promise<string[]> => (await world.home.list(JOBS)).items.map(({ metadata }) => metadata.name);
const reasonOf = (id: string): string => {
  const outcome = outcomes.get(id);
  return outcome?.kind === 'Failed' ? `${outcome.failure.reason}: ${outcome.failure.message}` : String(outcome?.kind);
};

test('an unknown queue, and more than a queue ever gives, fail within two minutes and leave no Job', async () => {
  await start('Fail');
  await submit('lost', '1', 'nowhere');
  await submit('huge', '5000');
  await submit('waits', '200'); // Of quota there is enough, of room there is none.
  await world.settle(30_000);
  expect(outcomes.size).toBe(0);
  await world.settle(90_000);
  expect(reasonOf('lost')).toMatch(/^Rejected: Unadmittable: LocalQueueNotFound: .*\(Job team\/lost\)/);
  expect(reasonOf('huge')).toMatch(/^Rejected: Unadmittable: ExceedsQuota: .*\(Job team\/huge\)/);
  await world.settle(10_000);
  expect(await jobs()).toEqual(['waits']);
  expect([...outcomes.keys()].toSorted()).toEqual(['huge', 'lost']);
  // And so does whoever submits it again, although Redis has forgotten the first: the ledger has not.
  expect(await submit('lost', '1', 'nowhere')).toMatchObject({
    outcome: { failure: { reason: 'Rejected', message: expect.stringContaining('LocalQueueNotFound') as string } },
  });
});

test('where the queue says that they wait, they wait', async () => {
  await start('Wait');
  await submit('lost', '1', 'nowhere');
  await world.settle(600_000);
  expect([await jobs(), outcomes.size]).toEqual([['lost'], 0]);
});

test('the next leader goes on with it, and a Job that somebody else makes is left alone', async () => {
  await start('Fail');
  await submit('lost', '1', 'nowhere');
  await world.home.create(JOBS, {
    metadata: { namespace: NAMESPACE, name: 'theirs', labels: { [QUEUE_NAME_LABEL]: 'nowhere' } },
    spec: {
      suspend: true,
      managedBy: 'switchyard.dev/manager',
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } },
    },
  });
  await world.settle(30_000);
  await world.stop();
  await world.start();
  await world.settle(120_000);
  expect(reasonOf('lost')).toMatch(/^Rejected: Unadmittable: LocalQueueNotFound/);
  expect(await jobs()).toEqual(['theirs']);
});
