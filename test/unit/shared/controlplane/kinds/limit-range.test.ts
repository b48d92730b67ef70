import { describe, expect, test } from 'vitest';
import { limitRangeStrategy } from '../../../../../shared/controlplane/kinds/limit-range.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

const limitRanges = driveKind(limitRangeStrategy);
const create = (...limits: object[]) => limitRanges.create({ metadata: { name: 'l' }, spec: { limits } });

describe('a LimitRange', () => {
  test('lets containers use the most, and request what they may use or else the least', () => {
    expect(create({ type: 'Container', max: { cpu: '2' }, min: { memory: '1Mi' } }).object['spec']).toEqual({
      limits: [
        {
          type: 'Container',
          max: { cpu: '2' },
          min: { memory: '1Mi' },
          default: { cpu: '2' },
          defaultRequest: { cpu: '2', memory: '1Mi' },
        },
      ],
    });
  });
  test.each<[string, object, string[]]>([
    [
      'of an unknown type',
      { type: 'Job' },
      ['spec.limits[0].type | Invalid value: "Job": must be a standard limit type or fully qualified'],
    ],
    [
      'with unknown resources',
      { type: 'Pod', max: { storage: '1' } },
      ['spec.limits[0].max[storage] | Invalid value: "storage": must be a standard resource for containers'],
    ],
    [
      'with defaults of a pod',
      { type: 'Pod', default: { cpu: '1' } },
      ["spec.limits[0].default | Forbidden: may not be specified when `type` is 'Pod'"],
    ],
    [
      'whose least is more than its most',
      { type: 'Pod', min: { cpu: '2' }, max: { cpu: '1' } },
      ['spec.limits[0].min[cpu] | Invalid value: "2": min value 2 is greater than max value 1'],
    ],
    [
      'whose defaults leave its limits',
      { type: 'Container', max: { cpu: '1' }, default: { cpu: '2' }, defaultRequest: { cpu: '3' } },
      [
        'spec.limits[0].defaultRequest[cpu] | Invalid value: "3": default request value 3 is greater than max value 1',
        'spec.limits[0].defaultRequest[cpu] | Invalid value: "3": default request value 3 is greater than default limit value 2',
        'spec.limits[0].default[cpu] | Invalid value: "1": default value 2 is greater than max value 1',
      ],
    ],
    [
      'with a ratio that cannot be',
      { type: 'Pod', min: { cpu: '1' }, max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '3' } },
      ['spec.limits[0].maxLimitRequestRatio[cpu] | Invalid value: "3": ratio 3 is greater than max/min = 2.000000'],
    ],
    [
      'of claims without their storage',
      { type: 'PersistentVolumeClaim' },
      ['spec.limits[0].limits | Required value: either minimum or maximum storage value is required, but neither was provided'],
    ],
  ])('%s is refused', (_, limit, findings) => expect(create(limit).findings).toEqual(findings));
  test('has one limit of each type', () => {
    expect(create({ type: 'Pod' }, { type: 'Pod' }).findings).toEqual(['spec.limits[1].type | Duplicate value: "Pod"']);
  });
});
