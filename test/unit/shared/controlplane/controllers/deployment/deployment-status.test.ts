import { describe, expect, test } from 'vitest';
import type { Deployment, DeploymentStatus, ReplicaSet } from '../../../../../../shared/api/kubernetes.ts';
import { statusOf } from '../../../../../../shared/controlplane/controllers/deployment/deployment-status.ts';

const START_MS = Date.parse('2026-01-01T00:00:00Z');
const metadata = { namespace: 'ns', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
const aDeployment = (status: DeploymentStatus | undefined, spec: object = {}): Deployment => ({
  metadata: { ...metadata, name: 'web', generation: 3 },
  spec: { replicas: 2, progressDeadlineSeconds: 60, ...spec } as Deployment['spec'],
  ...(status === undefined ? {} : { status }),
});
const aSet = (ready: number): ReplicaSet => ({
  metadata: { ...metadata, name: 'web-1' },
  spec: { replicas: 2, selector: {} },
  status: { replicas: 2, readyReplicas: ready, availableReplicas: ready },
});
const observe = (deployment: Deployment, ready: number, began?: 'NewReplicaSetCreated', nowMs = START_MS) =>
  statusOf({ deployment, current: aSet(ready), all: [aSet(ready)], began }, nowMs);
const progress = ({ status }: { status: DeploymentStatus }) => status.conditions?.find(({ type }) => type === 'Progressing');

describe('the status of a Deployment', () => {
  test('counts the pods of its ReplicaSets', () => {
    expect(observe(aDeployment(undefined), 1).status).toMatchObject({
      observedGeneration: 3,
      replicas: 2,
      updatedReplicas: 2,
      readyReplicas: 1,
      availableReplicas: 1,
      unavailableReplicas: 1,
    });
  });

  test('says that a ReplicaSet was made, then that it gets on, then that it is there', () => {
    const begun = observe(aDeployment(undefined), 0, 'NewReplicaSetCreated');
    expect(progress(begun)).toMatchObject({ status: 'True', reason: 'NewReplicaSetCreated', message: 'Created new replica set "web-1"' });
    const half = observe(aDeployment(begun.status), 1, undefined, START_MS + 1000);
    expect(progress(half)).toMatchObject({ reason: 'ReplicaSetUpdated', lastUpdateTime: '2026-01-01T00:00:01Z' });
    const whole = observe(aDeployment(half.status), 2, undefined, START_MS + 2000);
    expect(progress(whole)).toMatchObject({ reason: 'NewReplicaSetAvailable', lastTransitionTime: '2026-01-01T00:00:00Z' });
    expect(whole.deadlineMs).toBeUndefined();
  });

  test('is the same while nothing happens, until the deadline is over', () => {
    const begun = observe(aDeployment(undefined), 0, 'NewReplicaSetCreated');
    const still = observe(aDeployment(begun.status), 0, undefined, START_MS + 59_000);
    expect(still).toEqual({ status: begun.status, deadlineMs: START_MS + 60_000 });
    const late = observe(aDeployment(begun.status), 0, undefined, START_MS + 60_000);
    expect(progress(late)).toMatchObject({ status: 'False', reason: 'ProgressDeadlineExceeded' });
    expect(observe(aDeployment(late.status), 0, undefined, START_MS + 90_000).status).toEqual(late.status);
  });

  test('says when it is paused and resumed', () => {
    const paused = observe(aDeployment(undefined, { paused: true }), 2);
    expect(progress(paused)).toMatchObject({ status: 'Unknown', reason: 'DeploymentPaused' });
    expect(progress(observe(aDeployment(paused.status), 2))).toMatchObject({ reason: 'DeploymentResumed' });
  });
});
