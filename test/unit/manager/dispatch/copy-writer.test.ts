/** Writes to a worker cluster whose API server is an embedded control plane. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createCopyWriter, DispatchRefused, type CopyWriter } from '../../../../manager/dispatch/copy-writer.ts';
import type { Job, Unsaved } from '../../../../shared/api/kubernetes.ts';
import { JOBS, NAMESPACES } from '../../../../shared/api/resources.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { startCluster, type EmbeddedCluster } from '../../../support/embedded-cluster.ts';

const key = { namespace: 'team', name: 'sum' };
const copyOf = (originUid: string, epoch: number): Unsaved<Job> => ({
  metadata: {
    ...key,
    labels: { 'switchyard.dev/origin': 'm1' },
    annotations: { 'switchyard.dev/origin-uid': originUid, 'switchyard.dev/dispatch-epoch': String(epoch) },
  },
  spec: {
    managedBy: 'switchyard.dev/worker',
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } },
  },
});

let cluster: EmbeddedCluster;
let writer: CopyWriter;
beforeEach(async () => {
  const clock = new FakeClock();
  cluster = await startCluster(clock);
  writer = createCopyWriter({ cluster: 'eu-1', client: cluster.client, clock, signal: new AbortController().signal });
});
afterEach(() => cluster.plane.close());

/** What the Job is told of a refusal. */
const refusalOf = async (writing: Promise<unknown>): Promise<string> => {
  const error: unknown = await writing.then(
    () => 'it was not refused',
    (thrown: unknown) => thrown,
  );
  return error instanceof DispatchRefused ? `${error.problem.reason}: ${error.message}` : String(error);
};

describe('creating a copy', () => {
  test('makes its namespace where that is missing', async () => {
    await writer.create(copyOf('a', 1));
    const namespace = await cluster.client.get(NAMESPACES, { namespace: '', name: 'team' });
    expect(namespace.metadata.labels).toMatchObject({ 'switchyard.dev/origin': 'm1' });
  });

  test('that is there already, because an answer was lost, finds it', async () => {
    const first = await writer.create(copyOf('a', 1));
    expect((await writer.create(copyOf('a', 1))).metadata.uid).toBe(first.metadata.uid);
  });

  test('is refused while the copy of an earlier placement is there, which is another run of the Job', async () => {
    await writer.create(copyOf('a', 1));
    expect(await refusalOf(writer.create(copyOf('a', 2)))).toBe('NameTaken: cluster "eu-1" has a copy of another placement');
    expect((await cluster.client.get(JOBS, key)).metadata.annotations).toMatchObject({ 'switchyard.dev/dispatch-epoch': '1' });
  });

  test('is refused while the copy of another Job of this name is there', async () => {
    await writer.create(copyOf('a', 1));
    expect(await refusalOf(writer.create(copyOf('b', 1)))).toMatch(/^NameTaken: .*not ours; rename one of the two/);
  });
});

describe('deleting a copy', () => {
  test('leaves another object of its name alone', async () => {
    const first = await writer.create(copyOf('a', 1));
    await cluster.client.delete(JOBS, key, { propagationPolicy: 'Background' });
    const second = await writer.create(copyOf('a', 2));
    await writer.delete(first);
    expect((await cluster.client.get(JOBS, key)).metadata.uid).toBe(second.metadata.uid);
  });
});
