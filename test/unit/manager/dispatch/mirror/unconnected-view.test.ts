import { expect, test } from 'vitest';
import type { WorkerClusterSpec } from '../../../../../manager/api/worker-cluster.ts';
import { unconnectedView } from '../../../../../manager/dispatch/mirror/unconnected-view.ts';

const SPEC: WorkerClusterSpec = { kubeconfigSecretRef: { namespace: 'switchyard', name: 'eu-1' } };

test('nothing is known of a cluster without a connection but what its WorkerCluster says', () => {
  expect(unconnectedView(SPEC, 'team/sum', 'Connecting')).toEqual({
    contact: 'Connecting',
    jobController: 'switchyard.dev/worker',
    local: false,
    problem: undefined,
    doubt: { kind: 'None' },
    untouchedSinceMs: undefined,
  });
  const spec: WorkerClusterSpec = { ...SPEC, jobController: 'kubernetes.io/job-controller', local: true };
  expect(unconnectedView(spec, 'team/sum', 'Lost')).toMatchObject({
    contact: 'Lost',
    jobController: 'kubernetes.io/job-controller',
    local: true,
  });
});

test('a namespace that it does not serve is not served, connected or not', () => {
  const spec: WorkerClusterSpec = { ...SPEC, servedNamespaces: ['team'] };
  expect(['team/sum', 'other/sum'].map((key) => unconnectedView(spec, key, 'Lost').contact)).toEqual(['Lost', 'NotServed']);
});
