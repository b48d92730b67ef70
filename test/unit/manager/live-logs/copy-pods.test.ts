import { expect, test } from 'vitest';
import { hasEnded, podsOfCopy } from '../../../../manager/live-logs/copy-pods.ts';
import { isPodName } from '../../../../shared/kube/keys.ts';

const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'sum', uid: 'copy', controller: true };
const pod = (metadata: object, rest: object = {}) => ({
  metadata: { name: 'sum-x', ownerReferences: [owner], ...metadata },
  spec: { containers: [{ name: 'main' }, { name: 'side' }] },
  status: { phase: 'Running', startTime: '2026-01-01T00:00:01Z' },
  ...rest,
});

test('the pods of a copy are those that it controls, whatever they are called and labelled', () => {
  expect(
    podsOfCopy(
      [
        pod({ annotations: { 'batch.kubernetes.io/job-completion-index': '3' } }),
        pod({ name: 'of-another', ownerReferences: [{ ...owner, uid: 'other' }] }),
        pod({ name: 'not-controlled', ownerReferences: [{ ...owner, controller: false }] }),
        pod({ name: 'of-nobody', ownerReferences: undefined }),
      ],
      'copy',
    ),
  ).toEqual([{ name: 'sum-x', container: 'main', phase: 'Running', index: 3, startedMs: Date.parse('2026-01-01T00:00:01Z') }]);
});

test('pods of another kind, whose operator puts objects between, are those that run for the original by their environment', () => {
  const env = (uid: string) =>
    [
      ['SWITCHYARD_EPOCH', '1'],
      ['SWITCHYARD_JOB', 'team/argo'],
      ['SWITCHYARD_JOB_UID', uid],
    ].map(([name, value]) => ({ name, value }));
  const runs = (name: string, uid: string) =>
    pod({ name, ownerReferences: [{ ...owner, uid: 'child' }] }, { spec: { containers: [{ name: 'main', env: env(uid) }] } });
  const named = (originUid?: string) =>
    podsOfCopy([runs('own', 'origin'), runs('foreign', 'other')], 'copy', originUid).map(({ name }) => name);
  expect([named('origin'), named()]).toEqual([['own'], []]);
});

test('what a cluster makes up is left out, or taken for nothing', () => {
  expect(podsOfCopy([null, 'x', [], {}, { metadata: { ownerReferences: 'x' } }], 'copy')).toEqual([]);
  for (const name of ['../secrets/x', 'a/b', '', 'A', '<img src=x>', 'x'.repeat(254), 7]) {
    expect(podsOfCopy([pod({ name })], 'copy')).toEqual([]);
    expect(podsOfCopy([pod({}, { spec: { containers: [{ name }] } })], 'copy')).toEqual([]);
  }
  const odd = pod({ annotations: { 'batch.kubernetes.io/job-completion-index': '1e9' } }, { status: { phase: '<b>', startTime: {} } });
  expect(podsOfCopy([odd], 'copy')).toEqual([{ name: 'sum-x', container: 'main', phase: 'Unknown' }]);
  expect(['sum-x', 'sum.x-1'].every(isPodName)).toBe(true);
});

test('a pod has ended when it says so', () => {
  expect((['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'] as const).filter((phase) => hasEnded({ phase }))).toEqual([
    'Succeeded',
    'Failed',
  ]);
});
