/** Goal: an API server takes no SubmissionQueue that makes no sense, and says what to write instead. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SUBMISSION_QUEUES } from '../../../../../manager/api/submission-queue.ts';
import { SUBMISSION_QUEUE_SCHEMA } from '../../../../../manager/api/schema/submission-queue.ts';
import { createCrds } from '../../../../support/crds.ts';
import { startCluster, type EmbeddedCluster } from '../../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const clock = new FakeClock();
let cluster: EmbeddedCluster;
beforeAll(async () => {
  cluster = await startCluster(clock);
  await createCrds(cluster.client);
  await clock.advance(100);
});
afterAll(() => cluster.plane.close());

const create = (spec: object, name = 'batch') =>
  cluster.client.create(SUBMISSION_QUEUES, { metadata: { namespace: 'default', name }, spec } as never);

describe('a SubmissionQueue', () => {
  test.each<[object, string | RegExp]>([
    [{}, 'name a serviceAccountName, or set identity to Manager and name none'],
    [{ serviceAccountName: 'a', identity: 'Manager' }, 'name a serviceAccountName, or set identity to Manager and name none'],
    [{ serviceAccountName: 'a', namespaces: ['kube-system'] }, 'namespaces of Kubernetes itself (kube-*) take no submissions; name others'],
    [{ serviceAccountName: 'a', namespaces: ['x', 'x'] }, /Duplicate value: "x"/],
    [{ serviceAccountName: 'a', queue: 'a:b' }, 'spec.queue in body should match'],
    [{ serviceAccountName: 'a', queue: 'a-control' }, 'queues called NAME-control and NAME-gates belong to the queue NAME'],
    [{ serviceAccountName: 'a', prefix: 'a b' }, 'spec.prefix in body should match'],
    [{ serviceAccountName: 'a', weight: 0 }, 'spec.weight in body should be greater than or equal to 1'],
    [{ serviceAccountName: 'a', signing: { keys: [] } }, /should have at least 1 items/],
    [
      {
        serviceAccountName: 'a',
        priorityClasses: [
          { upTo: 1, name: 'a' },
          { upTo: 1, name: 'b' },
        ],
      },
      /Duplicate value: \{"upTo":1\}/,
    ],
  ])('is not %j', async (spec, message) => {
    await expect(create(spec)).rejects.toThrow(message);
  });

  test('keeps its prefix and its queue, said or not', async () => {
    await create({ serviceAccountName: 'a', queue: 'q' }, 'kept');
    const change = (spec: object) =>
      cluster.client.patch(SUBMISSION_QUEUES, { namespace: 'default', name: 'kept' }, { type: 'merge', body: { spec } });
    await expect(change({ queue: 'other' })).rejects.toThrow('queue is immutable');
    await expect(change({ queue: null })).rejects.toThrow('queue is immutable');
    await expect(change({ prefix: 'mine' })).rejects.toThrow('prefix is immutable');
    expect((await change({ weight: 3, namespaces: ['more'] })).spec).toMatchObject({ weight: 3, onUnadmittable: 'Fail' });
  });
});

test('its kind shows whether it is served, and why not', () => {
  expect(SUBMISSION_QUEUE_SCHEMA.printerColumns.map(({ name }) => name).slice(0, 2)).toEqual(['Ready', 'Reason']);
});
