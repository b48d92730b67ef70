import { describe, expect, test } from 'vitest';
import { restedWorkload, worldOf, type WorldObjects } from '../../../../../manager/insight/world/world-objects.ts';
import { AS_WRITTEN } from '../../../../../manager/api/adjusted-pod.ts';
import { formatAdmissionRecord } from '../../../../../manager/api/records.ts';
import type { WorkerCluster } from '../../../../../manager/api/worker-cluster.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION, COPIES_FINALIZER } from '../../../../../shared/api/names.ts';
import { aClusterQueue } from '../../admission/setup.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const NOW_MS = Date.parse('2026-01-02T00:00:00Z');
const RECORD = {
  clusterQueue: 'main',
  cluster: 'eu',
  flavors: { cpu: 'default' },
  epoch: 1,
  since: '2026-01-01T00:00:00Z',
  requests: { cpu: '1', pods: '1' },
};
const aJob = (suspend: boolean, metadata: Partial<Job['metadata']> = {}): Job =>
  ({
    metadata: {
      name: 'a',
      namespace: 'team',
      uid: 'a',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      finalizers: [COPIES_FINALIZER],
      annotations: { [ADMISSION_ANNOTATION]: formatAdmissionRecord(RECORD, { written: '2026-01-01T00:00:00.000Z', seal: 'x' }) },
      ...metadata,
    },
    spec: {
      suspend,
      managedBy: 'switchyard.dev/manager',
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'i', resources: { requests: { cpu: '1' } } }] } },
    },
    status: { active: 1, startTime: '2026-01-01T00:00:00Z' },
  }) as unknown as Job;
const objects = (parts: Partial<WorldObjects> = {}): WorldObjects => ({
  clusterQueues: [],
  localQueues: [],
  resourceFlavors: [],
  cohorts: [],
  namespaces: [],
  jobs: [],
  workerClusters: [],
  workloadPriorityClasses: [],
  priorityClasses: [],
  limitRanges: [],
  runtimeClasses: [],
  ...parts,
});
const cluster = (status: object, spec: object = {}): WorkerCluster =>
  ({ metadata: { name: 'eu', uid: 'eu', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' }, spec, status }) as WorkerCluster;

describe('a world of objects', () => {
  test('knows of those that hold something what they will be once they rest', () => {
    const { workloads, rested } = worldOf(
      JOB_KIND,
      objects({ jobs: [aJob(false)], clusterQueues: [aClusterQueue('main', { default: '4' })] }),
      {},
      NOW_MS,
    );
    expect(workloads.map(({ phase }) => phase)).toEqual(['Admitted']);
    expect(rested?.get('team/a')).toMatchObject({ phase: 'Pending', podsTold: 0, record: { evicted: true, executedSeconds: 86_400 } });
  });

  test('knows what clusters lack of what Jobs need, as their WorkerClusters list it', () => {
    const job = aJob(true, { annotations: {}, finalizers: [] });
    const spec = { ...job.spec.template.spec, volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] };
    const needing = { ...job, spec: { ...job.spec, template: { spec } } } as Job;
    const lacking = cluster({ missingObjects: ['PersistentVolumeClaim other/data', 'PersistentVolumeClaim team/data'] });
    const lacksIn = (workerCluster: WorkerCluster) =>
      worldOf(JOB_KIND, objects({ jobs: [needing], workerClusters: [workerCluster] }), {}, NOW_MS).workloads.map(({ lacks }) => lacks);
    expect(lacksIn(lacking)).toEqual([{ eu: { problem: 'no PersistentVolumeClaim team/data', isMissing: true } }]);
    expect(lacksIn(cluster({ missingObjects: ['PersistentVolumeClaim other/data'] }))).toEqual([undefined]);
  });

  test('takes a flag for what it says', () => {
    const fairSharing = { preemptionStrategies: [] };
    expect(worldOf(JOB_KIND, objects(), { fairSharing, workerLostTimeoutMs: 1 }, NOW_MS)).toMatchObject({
      fairSharing,
      workerLostTimeoutMs: 1,
    });
  });

  test('leaves a cluster out whose capacity cannot be read', () => {
    expect(worldOf(JOB_KIND, objects({ workerClusters: [cluster({}, { capacity: { cpu: 'many' } })] }), {}, NOW_MS).clusters).toEqual([]);
  });

  test('has a lost cluster as it will be when no time has to pass any more', () => {
    const lost = cluster({ lostSince: '2026-01-01T23:59:59Z', worker: { fenceAfterSeconds: 60 } }, { state: 'Lost' });
    expect(worldOf(JOB_KIND, objects({ workerClusters: [lost] }), {}, NOW_MS).losses?.get('eu')).toEqual({
      since: '2026-01-01T23:59:59Z',
      lostMs: Number.POSITIVE_INFINITY,
      givenUpMs: Number.POSITIVE_INFINITY,
      fenceAfterSeconds: 60,
      workerAlive: false,
      otherManager: false,
    });
  });
});

describe('a Job at rest', () => {
  test('that is being deleted has gone', () => {
    expect(restedWorkload(JOB_KIND, aJob(false, { deletionTimestamp: '2026-01-02T00:00:00Z' }), AS_WRITTEN, NOW_MS)?.phase).toBe(
      'Finished',
    );
  });

  test('without a record waits, too', () => {
    expect(restedWorkload(JOB_KIND, aJob(false, { annotations: {} }), AS_WRITTEN, NOW_MS)?.phase).toBe('Pending');
  });
});
