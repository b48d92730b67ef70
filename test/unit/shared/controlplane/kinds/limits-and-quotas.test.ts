import { describe, expect, test } from 'vitest';
import { limitRangeStrategy } from '../../../../../shared/controlplane/kinds/limit-range.ts';
import { resourceQuotaStrategy } from '../../../../../shared/controlplane/kinds/resource-quota.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

describe('a LimitRange', () => {
  const ranges = driveKind(limitRangeStrategy);
  const findings = (...limits: object[]): readonly string[] => ranges.create({ metadata: { name: 'l' }, spec: { limits } }).findings;

  test('has each type once, and only known ones or those of a vendor', () => {
    expect(findings({ type: 'Pod' }, { type: 'Pod' }, { type: 'Thing' }, { type: 'e.com/Thing' })).toEqual([
      'spec.limits[1].type | Duplicate value: "Pod"',
      'spec.limits[2].type | Invalid value: "Thing": must be a standard limit type or fully qualified',
    ]);
  });
  test('gives a pod no defaults, and a claim bounds of storage', () => {
    expect(findings({ type: 'Pod', default: { cpu: '1' }, defaultRequest: { cpu: '1' } }, { type: 'PersistentVolumeClaim' })).toEqual([
      "spec.limits[0].default | Forbidden: may not be specified when `type` is 'Pod'",
      "spec.limits[0].defaultRequest | Forbidden: may not be specified when `type` is 'Pod'",
      'spec.limits[1].limits | Required value: either minimum or maximum storage value is required, but neither was provided',
    ]);
  });
  test('asks for a ratio that its bounds allow', () => {
    expect(findings({ type: 'Pod', min: { cpu: '1' }, max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '3', memory: '500m' } })).toEqual([
      'spec.limits[0].maxLimitRequestRatio[cpu] | Invalid value: "3": ratio 3 is greater than max/min = 2.000000',
      'spec.limits[0].maxLimitRequestRatio[memory] | Invalid value: "500m": ratio 500m is less than 1',
    ]);
  });
});

describe('a ResourceQuota', () => {
  const quotas = driveKind(resourceQuotaStrategy);
  const findings = (spec: object): readonly string[] => quotas.create({ metadata: { name: 'q' }, spec }).findings;

  test('limits resources that exist', () => {
    expect(findings({ hard: { bogus: '1', storage: '1', 'requests.hugepages-2Mi': '4Mi', 'count/x.e.com': '1' } })).toEqual([
      'spec.hard[bogus] | Invalid value: "bogus": must be a standard resource type or fully qualified',
      'spec.hard[bogus] | Invalid value: "bogus": must be a standard resource for quota',
      'spec.hard[storage] | Invalid value: "storage": must be a standard resource for quota',
    ]);
  });
  test('has scopes that exist, do not exclude one another, and suit what it limits', () => {
    expect(findings({ hard: { pods: '1', 'requests.cpu': '1' }, scopes: ['BestEffort', 'NotBestEffort', 'Weekends'] })).toEqual([
      'spec.scopes | Invalid value: ["BestEffort","NotBestEffort","Weekends"]: unsupported scope applied to resource',
      'spec.scopes | Invalid value: ["BestEffort","NotBestEffort","Weekends"]: unsupported scope',
      'spec.scopes | Invalid value: ["BestEffort","NotBestEffort","Weekends"]: conflicting scopes',
    ]);
    expect(findings({ hard: { persistentvolumeclaims: '1' }, scopes: ['VolumeAttributesClass'] })).toEqual([]);
  });
  test('selects by values where the operator takes some', () => {
    const selector = (...matchExpressions: object[]): readonly string[] =>
      findings({ hard: { pods: '1' }, scopeSelector: { matchExpressions } });
    const path = 'spec.scopeSelector.matchExpressions';
    expect(selector({ scopeName: 'PriorityClass', operator: 'In' })).toEqual([
      `${path}.values | Required value: must be at least one value when \`operator\` is 'In' or 'NotIn' for scope selector`,
    ]);
    expect(selector({ scopeName: 'PriorityClass', operator: 'Exists', values: ['x'] })).toEqual([
      `${path}.values | Invalid value: ["x"]: must be no value when \`operator\` is 'Exist' or 'DoesNotExist' for scope selector`,
    ]);
    expect(selector({ scopeName: 'PriorityClass', operator: 'Like', values: ['x'] })).toEqual([
      `${path}.operator | Invalid value: "Like": not a valid selector operator`,
    ]);
    expect(selector({ scopeName: 'Weekends', operator: 'Exists' })).toEqual([
      `${path}.scopeName | Invalid value: "Weekends": unsupported scope`,
    ]);
  });
  test('warns where more can be requested than used', () => {
    const object = quotas.create({
      metadata: { name: 'q' },
      spec: { hard: { cpu: '3', 'limits.cpu': '2', 'requests.memory': '1' } },
    }).object;
    expect(resourceQuotaStrategy.warningsOnCreate?.(object)).toEqual(['ResourceQuota cpu (3) should be less than limits.cpu (2)']);
  });
});
