import { describe, expect, test } from 'vitest';
import { type DecodedLimit, validateLimits } from '../../../../../shared/controlplane/kinds/limit-range-validation.ts';
import { validateQuotaScopes } from '../../../../../shared/controlplane/kinds/quota-scope-validation.ts';
import { told } from './findings.ts';

describe('a limit', () => {
  const judged = (limit: DecodedLimit) => told(validateLimits([{ type: 'Container', ...limit }], 'l'));
  test.each<[DecodedLimit, string[]]>([
    [{ min: { cpu: '1' }, defaultRequest: { cpu: '2' }, default: { cpu: '3' }, max: { cpu: '4' }, maxLimitRequestRatio: { cpu: '4' } }, []],
    [{ min: { cpu: '2' }, max: { cpu: '1' } }, ['l[0].min[cpu] | Invalid value: "2": min value 2 is greater than max value 1']],
    [
      { min: { cpu: '2' }, defaultRequest: { cpu: '1' } },
      ['l[0].defaultRequest[cpu] | Invalid value: "1": min value 2 is greater than default request value 1'],
    ],
    [
      { defaultRequest: { cpu: '2' }, max: { cpu: '1' } },
      ['l[0].defaultRequest[cpu] | Invalid value: "2": default request value 2 is greater than max value 1'],
    ],
    [
      { defaultRequest: { cpu: '2' }, default: { cpu: '1' } },
      ['l[0].defaultRequest[cpu] | Invalid value: "2": default request value 2 is greater than default limit value 1'],
    ],
    [{ default: { cpu: '2' }, max: { cpu: '1' } }, ['l[0].default[cpu] | Invalid value: "1": default value 2 is greater than max value 1']],
    [
      { default: { 'example.com/gpu': '2' }, defaultRequest: { 'example.com/gpu': '1' } },
      [
        'l[0].defaultRequest[example.com/gpu] | Invalid value: "1": default value 2 must equal to defaultRequest value 1 in example.com/gpu',
      ],
    ],
    [{ max: { pods: '1' } }, ['l[0].max[pods] | Invalid value: "pods": must be a standard resource for containers']],
  ])('is judged: %j', (limit, findings) => {
    expect(judged(limit)).toEqual(findings);
  });

  test('of a resource called like what every object inherits is one of no standard resource', () => {
    const inherited = JSON.parse('{"constructor": "1", "__proto__": "2"}') as Record<string, string>;
    expect(judged({ max: inherited }).every((finding) => /Invalid value: "(constructor|__proto__)"/.test(finding))).toBe(true);
    expect(judged({ max: inherited })).toHaveLength(4);
    expect(judged({ max: inherited, min: { cpu: '1' }, default: {} })).toHaveLength(4);
  });

  test('of nothing is none', () => {
    expect(told(validateLimits([], 'l'))).toEqual([]);
    expect(told(validateLimits([{}], 'l')).length).toBeGreaterThan(0);
  });
});

describe('the scopes of a quota', () => {
  type Spec = Parameters<typeof validateQuotaScopes>[0];
  const judged = (spec: Spec) => told(validateQuotaScopes({ hard: { pods: '1' }, ...spec }));
  const selecting = (...matchExpressions: { scopeName?: string; operator?: string; values?: string[] }[]): Spec => ({
    scopeSelector: { matchExpressions },
  });
  const P = 'spec.scopeSelector.matchExpressions';
  test.each<[Spec, string[]]>([
    [{}, []],
    [{ scopes: ['BestEffort', 'NotTerminating'] }, []],
    [{ scopes: ['constructor'] }, ['spec.scopes | Invalid value: ["constructor"]: unsupported scope']],
    [{ scopes: ['Terminating', 'NotTerminating'] }, ['spec.scopes | Invalid value: ["Terminating","NotTerminating"]: conflicting scopes']],
    [
      { hard: { cpu: '1' }, scopes: ['BestEffort'] },
      ['spec.scopes | Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
    ],
    [{ hard: { 'example.com/gpu': '1' }, scopes: ['BestEffort'] }, []],
    [selecting({ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }), []],
    [
      selecting({ scopeName: 'PriorityClass', operator: 'NotIn' }),
      [`${P}.values | Required value: must be at least one value when \`operator\` is 'In' or 'NotIn' for scope selector`],
    ],
    [
      selecting({ scopeName: 'BestEffort', operator: 'DoesNotExist' }),
      [expect.stringMatching(/\.operator \| Invalid value: "DoesNotExist": must be 'Exists' when scope is any of/) as string],
    ],
    [
      selecting({ scopeName: 'BestEffort', operator: 'Exists' }, { scopeName: 'NotBestEffort', operator: 'Exists' }),
      [`${P} | Invalid value: null: conflicting scopes`],
    ],
  ])('%j', (spec, findings) => {
    expect(judged(spec)).toEqual(findings);
  });
});
