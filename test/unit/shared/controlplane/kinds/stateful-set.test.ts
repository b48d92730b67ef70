import { describe, expect, test } from 'vitest';
import { statefulSetStrategy } from '../../../../../shared/controlplane/kinds/stateful-set.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

const statefulSets = driveKind(statefulSetStrategy);
const TEMPLATE = { metadata: { labels: { app: 'db' } }, spec: { containers: [{ name: 'c', image: 'redis' }] } };
const CLAIM = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
const db = (spec: object = {}): object => ({
  metadata: { name: 'db' },
  spec: { selector: { matchLabels: { app: 'db' } }, template: TEMPLATE, serviceName: 'db', ...spec },
});

describe('a StatefulSet', () => {
  test('has one replica, rolling updates without a partition, and keeps its claims', () => {
    const { object, findings } = statefulSets.create(db({ volumeClaimTemplates: [CLAIM] }));
    expect(findings).toEqual([]);
    expect(object).toMatchObject({
      metadata: { generation: 1 },
      spec: {
        replicas: 1,
        podManagementPolicy: 'OrderedReady',
        revisionHistoryLimit: 10,
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
        template: { spec: { restartPolicy: 'Always' } },
        volumeClaimTemplates: [{ spec: { volumeMode: 'Filesystem' }, status: { phase: 'Pending' } }],
      },
    });
  });

  test('may mount the claims that its pods will have', () => {
    const containers = [{ name: 'c', image: 'redis', volumeMounts: [{ name: 'data', mountPath: '/data' }] }];
    const template = { ...TEMPLATE, spec: { containers } };
    expect(statefulSets.create(db({ template, volumeClaimTemplates: [CLAIM] })).findings).toEqual([]);
    expect(statefulSets.create(db({ template })).findings).toEqual([
      'spec.template.spec.containers[0].volumeMounts[0].name | Not found: "data"',
    ]);
  });

  test.each([
    [{ selector: undefined }, 'spec.selector | Required value'],
    [{ selector: {} }, 'spec.selector | Invalid value: {}: empty selector is invalid for statefulset'],
    [
      { selector: { matchLabels: { app: 'api' } } },
      'spec.template.metadata.labels | Invalid value: {"app":"db"}: `selector` does not match template `labels`',
    ],
    [{ replicas: -1 }, 'spec.replicas | Invalid value: -1: must be greater than or equal to 0'],
    [{ podManagementPolicy: 'Any' }, `spec.podManagementPolicy | Invalid value: "Any": must be 'OrderedReady' or 'Parallel'`],
    [
      { updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } },
      `spec.updateStrategy.rollingUpdate | Invalid value: {"partition":1}: only allowed for updateStrategy 'RollingUpdate'`,
    ],
    [
      { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Keep' } },
      'spec.persistentVolumeClaimRetentionPolicy.whenDeleted | Unsupported value: "Keep": supported values: "Retain", "Delete"',
    ],
    [
      { volumeClaimTemplates: [{ ...CLAIM, spec: { accessModes: ['ReadWriteOnce'] } }] },
      'spec.volumeClaimTemplates[0].spec.resources[storage] | Required value',
    ],
    [
      { template: { ...TEMPLATE, spec: { ...TEMPLATE.spec, activeDeadlineSeconds: 5 } } },
      'spec.template.spec.activeDeadlineSeconds | Forbidden: activeDeadlineSeconds in StatefulSet is not Supported',
    ],
  ])('with %j is refused', (spec, finding) => {
    expect(statefulSets.create(db(spec)).findings).toContain(finding);
  });

  test('changes in its pods and their number, and keeps its Service and claims', () => {
    const { object } = statefulSets.create(db());
    const scaled = statefulSets.update(object, (next) => {
      (next['spec'] as { replicas: number }).replicas = 3;
    });
    expect(scaled.findings).toEqual([]);
    expect(scaled.object.metadata.generation).toBe(2);
    const moved = statefulSets.update(object, (next) => {
      (next['spec'] as { serviceName: string }).serviceName = 'other';
    });
    expect(moved.findings).toEqual([expect.stringContaining('spec | Forbidden: updates to statefulset spec for fields other than')]);
  });

  test('has no more ready pods than pods', () => {
    const { object } = statefulSets.create(db());
    expect(statefulSets.updateStatus(object, { replicas: 1, readyReplicas: 2, availableReplicas: 1 }).findings).toEqual([
      'status.readyReplicas | Invalid value: 2: cannot be greater than status.replicas',
    ]);
  });
});
