import { expect, test } from 'vitest';
import { copiesByPods } from '../../../../../manager/dispatch/listing/copies-by-pods.ts';
import { copyIdentity, localKeyOfCopy } from '../../../../../manager/work-kind/copy-marks.ts';
import { remoteJob } from '../../../../../manager/work-kind/job/copy/remote-job.ts';
import type { KubeObject, Pod } from '../../../../../shared/api/kubernetes.ts';
import type { ListOptions, ObjectList } from '../../../../../shared/kube/client.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { anAdmittedJob } from '../../../../support/jobs.ts';

const JOB = anAdmittedJob({ metadata: { name: 'sum', uid: 'u1' } });

/** A pod of the copy that a manager has made. */
function pod({ name = 'sum-x', namespace = 'team', origin = 'm1', local = false } = {}): Pod {
  const copy = remoteJob(JOB, { origin, epoch: 2, jobController: 'x/y', local, flavors: [] });
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: copy.metadata.name ?? '', uid: 'c1', controller: true };
  const metadata = { namespace, name, uid: name, resourceVersion: '1', creationTimestamp: '', ownerReferences: [owner] };
  return { metadata, spec: copy.spec.template.spec } as unknown as Pod;
}

/** What the pods of a cluster that lists them in pages of two show, with the questions that it was asked. */
async function copiesOf(pods: readonly Pod[], more: { readonly local?: boolean; readonly servedNamespaces?: readonly string[] } = {}) {
  const asked: ListOptions[] = [];
  const list = async <T extends KubeObject>(_: unknown, options: ListOptions = {}): Promise<ObjectList<T>> => {
    const { signal, ...question } = options;
    expect(signal?.aborted).toBe(false);
    asked.push(question);
    const inNamespace = pods.filter(({ metadata }) => options.namespace === undefined || metadata.namespace === options.namespace);
    const from = Number(options.continueToken ?? 0);
    const continueToken = from + 2 < inNamespace.length ? String(from + 2) : undefined;
    return { items: inNamespace.slice(from, from + 2), resourceVersion: '1', continueToken } as unknown as ObjectList<T>;
  };
  const clock = new FakeClock();
  const question = { client: { list }, clock, origin: 'm1', signal: new AbortController().signal };
  const found = [];
  for await (const copy of copiesByPods({ ...question, local: false, servedNamespaces: undefined, ...more })) found.push(copy);
  return { found, asked };
}

test('unfinished pods name the Job and the placement that they run for, on every page of the list', async () => {
  const { found, asked } = await copiesOf([pod({ name: 'a' }), pod({ name: 'b' }), pod({ name: 'c' })]);
  expect(found.map((copy) => [copyIdentity(copy), copy.metadata.name, copy.metadata.uid])).toEqual(
    Array(3).fill([{ localKey: { namespace: 'team', name: 'sum' }, originUid: 'u1', epoch: 2 }, 'sum', 'c1']),
  );
  const fieldSelector = 'status.phase!=Succeeded,status.phase!=Failed';
  expect(asked).toEqual([
    { fieldSelector, limit: 500 },
    { fieldSelector, limit: 500, continueToken: '2' },
  ]);
});

test('where the manager serves some namespaces alone, it lists pods in no other', async () => {
  const { found, asked } = await copiesOf([pod(), pod({ namespace: 'other' })], { servedNamespaces: ['team', 'data'] });
  expect(found.map(localKeyOfCopy)).toEqual(['team/sum']);
  expect(asked.map(({ namespace }) => namespace)).toEqual(['team', 'data']);
});

test('pods of another manager, of none, and of a manifest that a user took to another namespace name no copy', async () => {
  const ofNobody = pod({ name: 'nobody' });
  ofNobody.spec = { containers: [{ name: 'main' }] };
  const { found } = await copiesOf([pod({ origin: 'm2' }), ofNobody, pod({ namespace: 'other' })]);
  expect(found).toEqual([]);
});

test('beside its original a copy has another name, and is found by the key of its Job', async () => {
  const { found } = await copiesOf([pod({ local: true })], { local: true });
  expect(found.map((copy) => [localKeyOfCopy(copy), copy.metadata.name])).toEqual([['team/sum', 'sum-u1']]);
});
