import { describe, expect, test } from 'vitest';
import { replicationControllerStrategy } from '../../../../../shared/controlplane/kinds/replication-controller.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

const controllers = driveKind(replicationControllerStrategy);
const TEMPLATE = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } };
const web = (spec: object = {}): object => ({ metadata: { name: 'web' }, spec: { template: TEMPLATE, ...spec } });

describe('a ReplicationController', () => {
  test('has one replica, and selects by the labels of its pods, which are its own as well', () => {
    const { object, findings } = controllers.create(web());
    expect(findings).toEqual([]);
    expect(object).toMatchObject({
      metadata: { generation: 1, labels: { app: 'web' } },
      spec: { replicas: 1, selector: { app: 'web' }, template: { spec: { restartPolicy: 'Always' } } },
      status: { replicas: 0 },
    });
  });

  test.each([
    [{ template: undefined }, ['spec.selector | Required value', 'spec.template | Required value']],
    [{ replicas: -1 }, ['spec.replicas | Invalid value: -1: must be greater than or equal to 0']],
    [
      { selector: { app: 'api' } },
      ['spec.template.metadata.labels | Invalid value: {"app":"web"}: `selector` does not match template `labels`'],
    ],
    [
      { template: { ...TEMPLATE, spec: { ...TEMPLATE.spec, restartPolicy: 'Never' } } },
      ['spec.template.spec.restartPolicy | Unsupported value: "Never": supported values: "Always"'],
    ],
    [
      { template: { ...TEMPLATE, spec: { ...TEMPLATE.spec, activeDeadlineSeconds: 5 } } },
      ['spec.template.spec.activeDeadlineSeconds | Forbidden: activeDeadlineSeconds in ReplicationController is not Supported'],
    ],
  ])('with %j is refused', (spec, findings) => {
    expect(controllers.create(web(spec)).findings).toEqual(findings);
  });

  test('is another generation with each spec, has no more ready pods than pods, and shows both', () => {
    const { object } = controllers.create(web());
    const { object: scaled } = controllers.update(object, (next) => Object.assign(next['spec'] as object, { replicas: 3 }));
    expect(scaled.metadata.generation).toBe(2);
    expect(controllers.updateStatus(object, { replicas: 1, readyReplicas: 2 }).findings).toEqual([
      'status.readyReplicas | Invalid value: 2: cannot be greater than status.replicas',
    ]);
    const { object: told } = controllers.updateStatus(scaled, { replicas: 2, readyReplicas: 1 });
    expect(replicationControllerStrategy.table?.cells(told, Date.parse('2026-01-01T00:00:05Z'))).toEqual([
      'web',
      3,
      2,
      1,
      '5s',
      'c',
      'nginx',
      'app=web',
    ]);
  });
});
