import { expect, test } from 'vitest';
import type { Copy } from '../../../../../manager/dispatch/mirror/mirror-group.ts';
import { orphansOf } from '../../../../../manager/dispatch/controller/orphan-collector.ts';
import { remoteJob } from '../../../../../manager/work-kind/job/copy/remote-job.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { anAdmittedJob } from '../../../../support/jobs.ts';

const copyOf = (name: string, uid: string, deleting = false): Copy => {
  const made = remoteJob(anAdmittedJob({ metadata: { name, uid } }), {
    origin: 'm1',
    epoch: 1,
    jobController: 'x/y',
    local: false,
    flavors: [],
  });
  const metadata = {
    ...made.metadata,
    name,
    namespace: 'team',
    uid: `copy-${name}`,
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  };
  return { cluster: 'eu-1', job: { ...made, metadata, status: {} }, deleting };
};

test('copies are orphans when their Job is gone or came back as another, and not already on their way out', () => {
  const copies = new Map([
    ['team/kept', [copyOf('kept', 'u1')]],
    ['team/gone', [copyOf('gone', 'u2')]],
    ['team/reborn', [copyOf('reborn', 'u3')]],
    ['team/going', [copyOf('going', 'u4', true)]],
  ]);
  const home: Record<string, Job> = {
    kept: anAdmittedJob({ metadata: { uid: 'u1' } }),
    reborn: anAdmittedJob({ metadata: { uid: 'u9' } }),
  };
  const jobs = { get: ({ name }: { readonly name: string }) => home[name], list: () => [], byIndex: () => [] };
  const cluster = { localKeys: () => new Set(copies.keys()), copiesOf: (key: string) => copies.get(key) ?? [] };
  expect(orphansOf(cluster, jobs)).toEqual(['team/gone', 'team/reborn']);
});
