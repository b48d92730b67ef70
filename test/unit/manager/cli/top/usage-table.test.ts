import { describe, expect, test } from 'vitest';
import { formatAdmissionRecord, type AdmissionRecord } from '../../../../../manager/api/records.ts';
import { usageBy, usageTable, usageValue, type Grouping } from '../../../../../manager/cli/top/usage-table.ts';
import { formatTable } from '../../../../../manager/cli/text-table.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import { createKinds } from '../../../../../manager/work-kind/kinds.ts';
import { qualifiedName } from '../../../../../manager/work-kind/qualified-name.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION, CREATED_BY_ANNOTATION, MANAGER_CONTROLLER_NAME, QUEUE_NAME_LABEL } from '../../../../../shared/api/names.ts';
import { aRecord } from '../../../../support/jobs.ts';
import { aCrew, aCrewKind } from '../../work-kind/described/described.ts';

const CREATED = '2026-01-01T00:00:00Z';
const aJob = (
  name: string,
  record?: Partial<AdmissionRecord>,
  more: { readonly user?: string; readonly finished?: boolean; readonly foreign?: boolean } = {},
): Job => ({
  metadata: {
    name,
    namespace: 'team',
    uid: name,
    resourceVersion: '1',
    creationTimestamp: CREATED,
    labels: { [QUEUE_NAME_LABEL]: 'q', ...(more.user === undefined ? {} : { user: more.user }) },
    ...(record === undefined
      ? {}
      : { annotations: { [ADMISSION_ANNOTATION]: formatAdmissionRecord({ ...aRecord(), ...record }, { written: CREATED, seal: '' }) } }),
  },
  spec: { template: {}, ...(more.foreign ? {} : { managedBy: MANAGER_CONTROLLER_NAME }) },
  ...(more.finished ? { status: { conditions: [{ type: 'Complete', status: 'True' }] } } : {}),
});

const JOBS = [
  aJob('small', { clusterQueue: 'a', cluster: 'east', requests: { cpu: '1', memory: '1Gi', pods: '1' } }, { user: 'ann' }),
  aJob('large', { clusterQueue: 'b', cluster: 'west', requests: { cpu: '7', 'example.com/gpu': '2', pods: '7' } }, { user: 'bob' }),
  aJob('also', { clusterQueue: 'a', cluster: 'west', requests: { cpu: '500m', memory: '1Gi', pods: '1' } }),
  aJob('evicted', { clusterQueue: 'a', cluster: 'east', requests: { cpu: '9' }, evicted: true }),
  aJob('waits'),
  aJob('done', { clusterQueue: 'b', cluster: 'east', requests: { cpu: '9' } }, { finished: true }),
  aJob('foreign', undefined, { foreign: true }),
];
const lines = (by: Grouping): string[] => formatTable(usageTable(by, usageBy(by, JOB_KIND, JOBS)), 80);

describe('who uses how much', () => {
  test('by queue, the most first, those that wait beside it', () => {
    expect(lines({ kind: 'queue' })).toEqual([
      'QUEUE   ADMITTED  WAITING  CPU    MEMORY  EXAMPLE.COM/GPU  PODS',
      'b       1         0        7      0       2                7',
      'a       2         0        1500m  2Gi     0                2',
      'team/q  0         2        0      0       0                0',
    ]);
  });

  test.each([
    [{ kind: 'cluster' } as const, ['west', 'east', '(none yet)']],
    [{ kind: 'namespace' } as const, ['team']],
    [{ kind: 'label', key: 'user' } as const, ['bob', 'ann', '(none)']],
  ])('by %j', (by, names) => {
    expect(
      usageBy(by, JOB_KIND, JOBS)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual([...names].toSorted());
  });

  test('by queue in one row, where it is known to which ClusterQueue a LocalQueue leads', () => {
    const leads = (localQueue: string): string | undefined => (localQueue === 'team/q' ? 'a' : undefined);
    expect(usageBy({ kind: 'queue' }, JOB_KIND, JOBS, leads).map(({ name, admitted, waiting }) => [name, admitted, waiting])).toEqual([
      ['b', 1, 0],
      ['a', 2, 2],
    ]);
  });

  test('by user, as the webhook has noted it', () => {
    const made = aJob('made');
    const noted = { ...made, metadata: { ...made.metadata, annotations: { [CREATED_BY_ANNOTATION]: 'oidc:ann' } } };
    expect(usageBy({ kind: 'user' }, JOB_KIND, [noted, aJob('other')]).map(({ name }) => name)).toEqual(['(not known)', 'oidc:ann']);
  });

  test('of all kinds: who manages an object, its kind says', () => {
    const record = { ...aRecord(), clusterQueue: 'a', cluster: 'east', requests: { cpu: '9', pods: '6' } };
    const annotations = { [ADMISSION_ANNOTATION]: formatAdmissionRecord(record, { written: CREATED, seal: '' }) };
    const crew = (name: string, managedBy?: string, more: object = {}) =>
      aCrew({ metadata: { name: qualifiedName('crews.example.com', name), ...more }, spec: { policy: { managedBy } } });
    const crews = [crew('argo', 'example.com/elsewhere', { annotations }), crew('waits', 'example.com/elsewhere'), crew('theirs')];
    const kind = createKinds(JOB_KIND, [aCrewKind()]);
    expect(usageValue(usageBy({ kind: 'namespace' }, kind, [...crews, ...JOBS]))).toMatchObject([
      { name: 'team', admitted: 4, waiting: 3, holds: { cpu: '17500m', pods: '15' } },
    ]);
  });

  test('for programs', () => {
    expect(usageValue(usageBy({ kind: 'namespace' }, JOB_KIND, JOBS))).toEqual([
      { name: 'team', admitted: 3, waiting: 2, holds: { cpu: '8500m', memory: '2Gi', pods: '9', 'example.com/gpu': '2' } },
    ]);
  });
});
