import { describe, expect, test } from 'vitest';
import { deploymentStrategy } from '../../../../../shared/controlplane/kinds/deployment.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

const deployments = driveKind(deploymentStrategy);
const TEMPLATE = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } };
const web = (spec: object = {}): object => ({
  metadata: { name: 'web' },
  spec: { selector: { matchLabels: { app: 'web' } }, template: TEMPLATE, ...spec },
});

describe('a Deployment', () => {
  test('has one replica, rolls by a quarter, and keeps ten revisions unless it says otherwise', () => {
    const { object, findings } = deployments.create(web());
    expect(findings).toEqual([]);
    expect(object).toMatchObject({
      metadata: { generation: 1 },
      spec: {
        replicas: 1,
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
        template: { spec: { restartPolicy: 'Always', terminationGracePeriodSeconds: 30 } },
      },
    });
  });

  test.each([
    [{ selector: undefined }, 'spec.selector | Required value'],
    [{ selector: {} }, 'spec.selector | Invalid value: {}: empty selector is invalid for deployment'],
    [
      { selector: { matchLabels: { app: 'api' } } },
      'spec.template.metadata.labels | Invalid value: {"app":"web"}: `selector` does not match template `labels`',
    ],
    [{ replicas: -1 }, 'spec.replicas | Invalid value: -1: must be greater than or equal to 0'],
    [
      { template: { ...TEMPLATE, spec: { ...TEMPLATE.spec, restartPolicy: 'Never' } } },
      'spec.template.spec.restartPolicy | Unsupported value: "Never": supported values: "Always"',
    ],
    [
      { strategy: { type: 'Sudden' } },
      'spec.strategy | Unsupported value: {"Type":"Sudden","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
    ],
    [
      { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
      "spec.strategy.rollingUpdate | Forbidden: may not be specified when strategy `type` is 'Recreate'",
    ],
    [
      { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
      'spec.strategy.rollingUpdate.maxUnavailable | Invalid value: 0: may not be 0 when `maxSurge` is 0',
    ],
    [
      { progressDeadlineSeconds: 10, minReadySeconds: 10 },
      'spec.progressDeadlineSeconds | Invalid value: 10: must be greater than minReadySeconds',
    ],
  ])('with %j is refused', (spec, finding) => {
    expect(deployments.create(web(spec)).findings).toContain(finding);
  });

  test('is a new generation when its spec or its annotations change, and not for its labels', () => {
    const { object } = deployments.create(web());
    const generation = (change: Parameters<typeof deployments.update>[1]): unknown =>
      deployments.update(object, change).object.metadata.generation;
    expect(generation((next) => Object.assign(next['spec'] as object, { replicas: 2 }))).toBe(2);
    expect(generation((next) => (next.metadata.annotations = { a: 'b' }))).toBe(2);
    expect(generation((next) => (next.metadata.labels = { a: 'b' }))).toBe(1);
  });

  test('selects the same pods all its life', () => {
    const { object } = deployments.create(web());
    const { findings } = deployments.update(object, (next) =>
      Object.assign(next['spec'] as object, { selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } }),
    );
    expect(findings).toEqual([
      'spec.selector | Invalid value: {"matchExpressions":[{"key":"app","operator":"Exists"}]}: field is immutable',
    ]);
  });

  test('is shown with what it has and what it wants', () => {
    const { object } = deployments.create(web({ replicas: 3 }));
    object['status'] = { readyReplicas: 2, updatedReplicas: 3, availableReplicas: 1 };
    const cells = deploymentStrategy.table?.cells(object, Date.parse(object.metadata.creationTimestamp) + 60_000);
    expect(cells).toEqual(['web', '2/3', 3, 1, '60s', 'c', 'nginx', 'app=web']);
  });
});
