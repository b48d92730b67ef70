/** Writes to a worker cluster whose API server is an embedded control plane. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createCopyWriter, type CopyWriter } from '../../../../../manager/dispatch/writes/copy-writer.ts';
import type { NamespacePolicy } from '../../../../../manager/dispatch/writes/namespace-policy.ts';
import { DispatchRefused } from '../../../../../manager/dispatch/writes/write-refusals.ts';
import type { Job, Unsaved, WorkObject } from '../../../../../shared/api/kubernetes.ts';
import { logTailsName } from '../../../../../shared/api/log-tails.ts';
import { ApiError } from '../../../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../../../shared/kube/client.ts';
import { fencedClient } from '../../../../../shared/kube/fenced-client.ts';
import { CONFIG_MAPS, JOBS, NAMESPACES } from '../../../../../shared/api/resources.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { startCluster, type EmbeddedCluster } from '../../../../support/embedded-cluster.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

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

/** No other create of it can be carried out. */
const SOLE = { mayBeMadeYet: false, isFirst: true };

let cluster: EmbeddedCluster;
let writer: CopyWriter;
let clock: FakeClock;
beforeEach(async () => {
  clock = new FakeClock();
  cluster = await startCluster(clock);
  const labelsOf = (namespace: string) => ({
    'pod-security.kubernetes.io/enforce': 'restricted',
    of: namespace,
    'switchyard.dev/origin': 'other',
  });
  writer = writerWith({ kind: 'Create', labelsOf });
});
const writerWith = (
  namespaces: NamespacePolicy = { kind: 'Require' },
  parts: Partial<Parameters<typeof createCopyWriter>[0]> = {},
): CopyWriter =>
  createCopyWriter({
    kind: JOB_KIND,
    origin: 'm1',
    cluster: 'eu-1',
    client: cluster.client,
    namespaces,
    leaseNamespace: () => 'leases',
    clock: new FakeClock(),
    signal: new AbortController().signal,
    ...parts,
  });
afterEach(() => cluster.plane.close());

type Answer = 'lost' | 'never arrived' | 'forbidden';
const forbidden = (): ApiError => new ApiError(403, { reason: 'Forbidden', message: 'no' });

/** A client whose next creates go wrong as `answers` says, and which may not read while `blind`. */
function lossy(client: KubeClient): KubeClient & { answers: Answer[]; blind: boolean } {
  return {
    ...fencedClient(client, new AbortController().signal),
    answers: [],
    blind: false,
    async create(resource, object, options) {
      const answer = this.answers.shift();
      if (answer === 'forbidden') throw forbidden();
      if (answer === 'never arrived') throw new Error(answer);
      const made = await client.create(resource, object, options);
      if (answer === 'lost') throw new Error('the answer was lost');
      return made;
    },
    async get(resource, wanted, options) {
      if (this.blind) throw forbidden();
      return client.get(resource, wanted, options);
    },
  };
}

/** What the Job is told of a refusal. */
const refusalOf = async (writing: Promise<unknown>): Promise<string> => {
  const error: unknown = await writing.then(
    () => 'it was not refused',
    (thrown: unknown) => thrown,
  );
  return error instanceof DispatchRefused ? `${error.problem.reason}: ${error.message}` : String(error);
};

describe('creating a copy', () => {
  test('makes its namespace where that is missing, with the labels that it is to have and the mark of who made it', async () => {
    await writer.create(copyOf('a', 1), SOLE);
    const namespace = await cluster.client.get(NAMESPACES, { namespace: '', name: 'team' });
    expect(namespace.metadata.labels).toEqual({
      'kubernetes.io/metadata.name': 'team',
      'pod-security.kubernetes.io/enforce': 'restricted',
      of: 'team',
      'switchyard.dev/origin': 'm1',
    });
  });

  test('leaves a namespace as it is that is there', async () => {
    const before = await cluster.client.create(NAMESPACES, { metadata: { name: 'team', labels: { theirs: 'yes' } } });
    await writer.create(copyOf('a', 1), SOLE);
    expect(await cluster.client.get(NAMESPACES, { namespace: '', name: 'team' })).toEqual(before);
  });

  test('is refused where its namespace is missing and must be there, and makes none', async () => {
    expect(await refusalOf(writerWith({ kind: 'Require' }).create(copyOf('a', 1), SOLE))).toBe(
      'NamespaceMissing: placement 1: namespace "team" does not exist on cluster "eu-1"; create it there, or set namespaces: Create in the WorkerCluster',
    );
    const { items } = await cluster.client.list(NAMESPACES);
    expect(items.map(({ metadata }) => metadata.name)).not.toContain('team');
  });

  test('makes no namespace while the labels of the one at home are not known', async () => {
    const unknown = writerWith({
      kind: 'Create',
      labelsOf() {
        throw new Error('not known yet');
      },
    });
    await expect(unknown.create(copyOf('a', 1), SOLE)).rejects.toThrow('not known yet');
    await expect(cluster.client.get(NAMESPACES, { namespace: '', name: 'team' })).rejects.toMatchObject({ code: 404 });
  });

  test.each([
    [429, 'TooManyRequests'],
    [401, 'Unauthorized'],
    [408, 'Timeout'],
  ])('that is answered with %i %s is not refused: it is tried again, and succeeds', async (code, reason) => {
    const busy = new ApiError(code, { reason, message: 'later' });
    const client: KubeClient = { ...fencedClient(cluster.client, new AbortController().signal), create: () => Promise.reject(busy) };
    const signal = new AbortController().signal;
    const impatient = writerWith(undefined, { client, clock, signal });
    await expect(impatient.create(copyOf('a', 1), SOLE)).rejects.toBe(busy);
    expect((await writer.create(copyOf('a', 1), SOLE)).metadata.name).toBe('sum');
  });

  test('that is there already, because an answer was lost, finds it', async () => {
    const first = await writer.create(copyOf('a', 1), SOLE);
    expect((await writer.create(copyOf('a', 1), SOLE)).metadata.uid).toBe(first.metadata.uid);
  });

  test('is refused while the copy of an earlier placement is there, which is another run of the Job', async () => {
    await writer.create(copyOf('a', 1), SOLE);
    expect(await refusalOf(writer.create(copyOf('a', 2), SOLE))).toBe('NameTaken: cluster "eu-1" has a copy of another placement');
    expect((await cluster.client.get(JOBS, key)).metadata.annotations).toMatchObject({ 'switchyard.dev/dispatch-epoch': '1' });
  });

  test('is refused while the copy of another Job of this name is there', async () => {
    await writer.create(copyOf('a', 1), SOLE);
    expect(await refusalOf(writer.create(copyOf('b', 1), SOLE))).toMatch(/^NameTaken: placement 1: .*not ours; rename one of the two/);
  });

  test('is refused for good while somebody’s Job is there, whatever marks of ours it wears', async () => {
    await cluster.client.create(NAMESPACES, { metadata: { name: 'team' } });
    const { spec, metadata } = copyOf('a', 1);
    await cluster.client.create(JOBS, { metadata: { ...metadata, annotations: {} }, spec });
    expect(await refusalOf(writer.create(copyOf('a', 7), SOLE))).toMatch(/^NameTaken: placement 7: .*not ours/);
  });

  test('puts back what a webhook drops, also where the Job controller writes first, and returns the copy as it is where that is refused', async () => {
    await cluster.client.create(NAMESPACES, { metadata: { name: 'team' } });
    const patches: ('conflict' | 'forbidden')[] = ['conflict'];
    const client: KubeClient = {
      ...fencedClient(cluster.client, new AbortController().signal),
      async create(resource, object, options) {
        const { labels: _labels, annotations: _annotations, ...metadata } = object.metadata;
        return cluster.client.create(resource, { ...object, metadata } as typeof object, options);
      },
      async patch(resource, wanted, patch, options) {
        const trouble = patches.shift();
        if (trouble === 'forbidden') throw forbidden();
        if (trouble === 'conflict')
          await cluster.client.patch(JOBS, wanted, { type: 'merge', body: { metadata: { annotations: { by: 'others' } } } });
        return cluster.client.patch(resource, wanted, patch, options);
      },
    };
    const namespaces = { kind: 'Require' } as const;
    writer = writerWith(namespaces, { client, clock });
    const { metadata } = await writer.create(copyOf('a', 1), SOLE);
    expect(metadata).toMatchObject({
      labels: { 'switchyard.dev/origin': 'm1' },
      annotations: { by: 'others', 'switchyard.dev/dispatch-epoch': '1' },
    });
    await cluster.client.delete(JOBS, key, { propagationPolicy: 'Background' });
    patches.push('forbidden');
    expect((await writer.create(copyOf('a', 1), SOLE)).metadata.labels?.['switchyard.dev/origin']).toBeUndefined();
  });

  test('that is refused has not been made by an earlier call: only then it is refused for good', async () => {
    const client = lossy(cluster.client);
    writer = writerWith(undefined, { client, clock });
    await cluster.client.create(NAMESPACES, { metadata: { name: 'team' } });
    client.answers = ['lost'];
    await expect(writer.create(copyOf('a', 1), SOLE)).rejects.toThrow('the answer was lost');
    client.answers = ['forbidden'];
    const made = await cluster.client.get(JOBS, key);
    expect((await writer.create(copyOf('a', 1), SOLE)).metadata.uid).toBe(made.metadata.uid);
  });

  test('that is refused while an earlier call may still be carried out is not refused for good', async () => {
    const client = lossy(cluster.client);
    writer = writerWith(undefined, { client, clock });
    client.answers = ['forbidden', 'forbidden'];
    expect(await refusalOf(writer.create(copyOf('a', 1), { mayBeMadeYet: true, isFirst: false }))).toBe(
      'Refused: cluster "eu-1" refused the Job: no',
    );
    expect(await refusalOf(writer.create(copyOf('a', 1), SOLE))).toBe('Refused: placement 1: cluster "eu-1" refused the Job: no');
  });

  test('that is refused is not refused for good while nobody can say what is there', async () => {
    const client = lossy(cluster.client);
    writer = writerWith(undefined, { client, clock });
    client.answers = ['forbidden', 'forbidden'];
    client.blind = true;
    const again = { ...SOLE, isFirst: false };
    expect(await refusalOf(writer.create(copyOf('a', 1), again))).toBe('Refused: cluster "eu-1" refused the Job: no');
    // The first create that was ever sent has made nothing.
    expect(await refusalOf(writer.create(copyOf('a', 1), SOLE))).toBe('Refused: placement 1: cluster "eu-1" refused the Job: no');
  });
});

describe('deleting a copy', () => {
  test('leaves another object of its name alone', async () => {
    const first = await writer.create(copyOf('a', 1), SOLE);
    await cluster.client.delete(JOBS, key, { propagationPolicy: 'Background' });
    const second = await writer.create(copyOf('a', 2), SOLE);
    await writer.delete(first, 'Background');
    expect((await cluster.client.get(JOBS, key)).metadata.uid).toBe(second.metadata.uid);
  });
});

describe('telling a suspended copy what its Job has finished', () => {
  const WORK = { succeeded: 2, failed: 1 };
  const suspended = async (): Promise<WorkObject> => {
    const copy = copyOf('a', 2);
    return writer.create({ ...copy, spec: { ...copy.spec, completions: 3, suspend: true } }, SOLE);
  };

  test('puts it into the status of that version, and tells what stands there then', async () => {
    const seeded = await writer.seed(await suspended(), WORK);
    expect(seeded.status).toMatchObject(WORK);
    expect((await cluster.client.get(JOBS, key)).status).toMatchObject(WORK);
  });

  test('leaves a copy alone that its Job controller has written to meanwhile', async () => {
    const copy = await suspended();
    await cluster.client.patchStatus(JOBS, key, { type: 'merge', body: { status: { ready: 0 } } });
    await expect(writer.seed(copy, WORK)).rejects.toMatchObject({ code: 409 });
    expect((await cluster.client.get(JOBS, key)).status).toEqual({ ready: 0 });
  });

  test('tells which right is missing', async () => {
    const copy = await suspended();
    const client: KubeClient = {
      ...fencedClient(cluster.client, new AbortController().signal),
      patchStatus: () => Promise.reject(forbidden()),
    };
    const poor = writerWith(undefined, { client, clock });
    expect(await refusalOf(poor.seed(copy, WORK))).toBe(
      'Refused: cluster "eu-1" does not let the Job go on with what it has finished elsewhere: no ' +
        '(the manager needs the verb patch on jobs/status there)',
    );
  });

  test('tells what the cluster says without what could control a terminal', async () => {
    const copy = await suspended();
    const client: KubeClient = {
      ...fencedClient(cluster.client, new AbortController().signal),
      patchStatus: () => Promise.reject(new ApiError(422, { reason: 'Invalid', message: 'no\u001b[2J\u202e way' })),
    };
    expect(await refusalOf(writerWith(undefined, { client, clock }).seed(copy, WORK))).toMatch(/elsewhere: no \[2J  way$/);
  });

  test('tells which part is dropped by an API server that does not know it', async () => {
    const copy = await suspended();
    const client: KubeClient = {
      ...fencedClient(cluster.client, new AbortController().signal),
      async patchStatus(resource, wanted, patch, options) {
        const answer = await cluster.client.patchStatus(resource, wanted, patch, options);
        return { ...answer, status: { failed: 1 } };
      },
    };
    const old = writerWith(undefined, { client, clock });
    expect(await refusalOf(old.seed(copy, WORK))).toBe(
      'Refused: cluster "eu-1" does not keep what the Job has finished elsewhere: its API server drops status.succeeded',
    );
  });
});

test('the word of an earlier suspension is taken back of this version only, with the mark of the resumption and nothing else', async () => {
  const copy = copyOf('a', 2);
  const annotations = { ...copy.metadata.annotations, 'switchyard.dev/resumed-from': '2026-01-01T00:00:10Z' };
  const made = await writer.create({ metadata: { ...copy.metadata, annotations }, spec: { ...copy.spec, suspend: true } }, SOLE);
  const conditions = ['Suspended', 'Other'].map((type) => ({ type, status: 'True', lastTransitionTime: '2026-01-01T00:00:10Z' }));
  const told = await cluster.client.patchStatus(JOBS, key, { type: 'merge', body: { status: { ready: 0, conditions } } });
  await expect(writer.takeBackSuspended(made)).rejects.toMatchObject({ code: 409 });
  const asked = await writer.takeBackSuspended(told);
  expect(asked.metadata.annotations).toEqual(copy.metadata.annotations);
  expect(asked.status?.ready).toBe(0);
  expect(asked.status?.conditions).toHaveLength(2);
  expect(asked.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Suspended', status: 'False' }));
  expect(asked.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Other', status: 'True' }));
});

describe('the ends of logs of a copy', () => {
  const copy = { metadata: { namespace: 'team', name: 'a', uid: 'u1' } } as Job;
  const put = (namespace: string, text: string): Promise<unknown> =>
    cluster.client.create(CONFIG_MAPS, { metadata: { namespace, name: logTailsName('u1') }, binaryData: { pod: btoa(text) } });
  const read = async (): Promise<string | undefined> => {
    const { binaryData = {} } = (await writer.tails(copy)) ?? {};
    return binaryData['pod'] === undefined ? undefined : atob(binaryData['pod']);
  };
  /** Of an account that may read ConfigMaps in these namespaces alone. */
  const readIn = (...namespaces: string[]): void => {
    const client: KubeClient = {
      ...fencedClient(cluster.client, new AbortController().signal),
      get: (resource, wanted, options) =>
        namespaces.includes(wanted.namespace ?? '') ? cluster.client.get(resource, wanted, options) : Promise.reject(forbidden()),
    };
    const signal = new AbortController().signal;
    writer = writerWith(undefined, { client, clock, signal });
  };
  beforeEach(async () => {
    for (const name of ['leases', 'team']) await cluster.client.create(NAMESPACES, { metadata: { name } });
  });

  test('are where the Lease of the worker is, whatever somebody puts beside the copy', async () => {
    expect(await read()).toBeUndefined();
    await put('team', 'forged');
    await put('leases', 'kept');
    expect(await read()).toBe('kept');
    readIn('leases');
    expect(await read()).toBe('kept');
  });

  test('are beside the copy where a worker of an earlier release has put them', async () => {
    await put('team', 'earlier');
    expect(await read()).toBe('earlier');
    readIn('team');
    expect(await read()).toBe('earlier');
    readIn('leases');
    expect(await read()).toBeUndefined();
  });

  test.each([[[]], [['team']]])(
    'cannot be read without a right where they are, which is told, with rights in %j',
    async (namespaces: string[]) => {
      await put('leases', 'kept');
      readIn(...namespaces);
      await expect(read()).rejects.toThrow('no');
    },
  );
});
