import { expect, test } from 'vitest';
import { essentialsOfCopy } from '../../../../../../manager/work-kind/job/copy/copy-essentials.ts';
import { copyIdentity } from '../../../../../../manager/work-kind/copy-marks.ts';
import { remoteJob, specChange } from '../../../../../../manager/work-kind/job/copy/remote-job.ts';
import type { Job } from '../../../../../../shared/api/kubernetes.ts';
import { parseEndedPods } from '../../../../../../shared/api/ended-pods.ts';
import { ENDED_PODS_ANNOTATION } from '../../../../../../shared/api/names.ts';
import { aCondition, anAdmittedJob } from '../../../../../support/jobs.ts';

const OPTIONS = { origin: 'm1', epoch: 3, jobController: 'x/y', local: false, flavors: [] };
const original = anAdmittedJob({
  metadata: { annotations: { note: 'x'.repeat(10_000) } },
  spec: {
    suspend: false,
    parallelism: 3,
    template: {
      spec: {
        restartPolicy: 'Never',
        nodeSelector: { zone: 'a' },
        tolerations: [{ key: 'k' }],
        containers: [
          { name: 'main', image: 'busybox', env: [{ name: 'A', value: 'x'.repeat(10_000) }], resources: { requests: { cpu: '1' } } },
        ],
      },
    },
  },
});
const wanted = remoteJob(original, OPTIONS);
const metadata = { name: 'sum', namespace: 'team', uid: 'c1', resourceVersion: '5', creationTimestamp: '2026-01-01T00:00:00Z' };
const copy: Job = { metadata: { ...wanted.metadata, ...metadata }, spec: wanted.spec };

test('whose copy it is, and whether it is as it should be, can be told from what is kept; little is', () => {
  const kept = essentialsOfCopy(copy, false);
  expect(copyIdentity(kept)).toEqual(copyIdentity(copy));
  expect(specChange(kept, wanted, false)).toBeUndefined();
  expect(specChange(kept, wanted, true)).toEqual({ suspend: true });
  expect(kept.spec.template.spec?.containers).toEqual([{ name: 'main', resources: { requests: { cpu: '1' } } }]);
  expect(JSON.stringify(kept).length).toBeLessThan(1_000);
});

test('it speaks for the Job of its own name, whatever it says, unless it stands beside its original', () => {
  const annotations = { ...copy.metadata.annotations, 'switchyard.dev/origin-name': 'another' };
  const lying = { ...copy, metadata: { ...copy.metadata, annotations } };
  expect(copyIdentity(essentialsOfCopy(lying, false))?.localKey).toEqual({ namespace: 'team', name: 'sum' });
  expect(copyIdentity(essentialsOfCopy(lying, true))?.localKey).toEqual({ namespace: 'team', name: 'sum' });
  const older = { ...lying, spec: { ...lying.spec, template: { spec: { containers: [] } } } } as Job;
  expect(copyIdentity(essentialsOfCopy(older, true))?.localKey).toEqual({ namespace: 'team', name: 'another' });
});

test('whose copy it is stays known where its annotations were edited, and where they are gone', () => {
  const edited = { 'switchyard.dev/origin-uid': 'another', 'switchyard.dev/dispatch-epoch': '9' };
  for (const annotations of [edited, {}]) {
    const kept = essentialsOfCopy({ ...copy, metadata: { ...copy.metadata, annotations } }, false);
    expect(copyIdentity(kept)).toEqual(copyIdentity(copy));
    expect(specChange(kept, wanted, false)).toBeUndefined();
  }
});

test('of what the pods of one ended with that runs, the last that failed is kept, and all of one that has ended', () => {
  const pods = [
    { pod: 'a', phase: 'Failed', exitCode: 1 },
    { pod: 'b', phase: 'Failed', exitCode: 2, tail: true },
    { pod: 'c', phase: 'Succeeded' },
  ];
  const keptOf = (ended: unknown, status: Job['status'] = {}) => {
    const annotations = { ...copy.metadata.annotations, [ENDED_PODS_ANNOTATION]: JSON.stringify(ended) };
    const kept = essentialsOfCopy(
      { ...copy, spec: { ...copy.spec, suspend: false }, metadata: { ...copy.metadata, annotations }, status },
      false,
    );
    return parseEndedPods(kept.metadata.annotations?.[ENDED_PODS_ANNOTATION]);
  };
  expect(keptOf(pods)).toEqual([{ pod: 'b', phase: 'Failed', exitCode: 2 }]);
  expect(keptOf(pods.slice(2))).toEqual([]);
  expect(keptOf('"Failed"')).toEqual([]);
  expect(keptOf(pods, { conditions: [aCondition('Failed')] })).toHaveLength(3);
});

test('one that is no Job is one that asks for nothing', () => {
  const strange = {
    metadata: { ...metadata, labels: 'a=b', annotations: { 'switchyard.dev/origin-uid': { a: 1 } }, deletionTimestamp: 7 },
    spec: 'none',
    status: [],
  };
  const kept = essentialsOfCopy(strange as unknown as Job, false);
  expect(kept).toEqual({ metadata: { ...metadata, labels: {}, annotations: {} }, spec: { template: { spec: { containers: [] } } } });
  expect(copyIdentity(kept)).toBeUndefined();
});
