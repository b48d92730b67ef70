import { describe, expect, test } from 'vitest';
import { replicaSetStrategy } from '../../../../../shared/controlplane/kinds/replica-set.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

const replicaSets = driveKind(replicaSetStrategy);
const TEMPLATE = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } };
const web = (spec: object = {}): object => ({
  metadata: { name: 'web' },
  spec: { selector: { matchLabels: { app: 'web' } }, template: TEMPLATE, ...spec },
});

describe('a ReplicaSet', () => {
  test('has one replica, and a template with the defaults of pods', () => {
    const { object, findings } = replicaSets.create(web());
    expect(findings).toEqual([]);
    expect(object).toMatchObject({ metadata: { generation: 1 }, spec: { replicas: 1, template: { spec: { restartPolicy: 'Always' } } } });
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
  ])('with %j is refused', (spec, finding) => {
    expect(replicaSets.create(web(spec)).findings).toContain(finding);
  });

  test('keeps its selector', () => {
    const { object } = replicaSets.create(web());
    const { findings } = replicaSets.update(object, (next) => {
      (next['spec'] as { selector: object }).selector = { matchLabels: { app: 'web', tier: 'front' } };
    });
    expect(findings.some((finding) => finding.startsWith('spec.selector') && finding.endsWith('field is immutable'))).toBe(true);
  });

  test('has no more ready pods than pods', () => {
    const { object } = replicaSets.create(web());
    expect(replicaSets.updateStatus(object, { replicas: 1, readyReplicas: 2, availableReplicas: 3 }).findings).toEqual([
      'status.readyReplicas | Invalid value: 2: cannot be greater than status.replicas',
      'status.availableReplicas | Invalid value: 3: cannot be greater than status.replicas',
      'status.availableReplicas | Invalid value: 3: cannot be greater than readyReplicas',
    ]);
  });
});
