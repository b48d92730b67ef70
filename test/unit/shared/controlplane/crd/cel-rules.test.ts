import { describe, expect, test } from 'vitest';
import { compileRules, ruleChecker } from '../../../../../shared/controlplane/crd/cel-rules.ts';
import type { JsonSchema, ValidationRule } from '../../../../../shared/controlplane/crd/json-schema.ts';
import type { FieldError } from '../../../../../shared/controlplane/apimachinery/field-error.ts';

const verdict = (schema: JsonSchema, rule: ValidationRule, value: unknown, ...old: unknown[]): string[] => {
  const rooted: JsonSchema = { type: 'object', properties: { v: { ...schema, 'x-kubernetes-validations': [rule] } } };
  const before = old.length === 0 ? undefined : { value: { v: old[0] } };
  return (compileRules(rooted)?.({ v: value }, before) ?? []).map(({ field, body }) => `${field}: ${body}`);
};
const range: JsonSchema = { type: 'object', properties: { min: { type: 'integer' }, max: { type: 'integer' }, note: { type: 'string' } } };

describe('a rule of x-kubernetes-validations', () => {
  test('that holds says nothing', () => {
    expect(verdict(range, { rule: 'self.min <= self.max' }, { min: 1, max: 2 })).toEqual([]);
  });

  test('that fails shows its message; an object is not printed, a scalar is', () => {
    expect(verdict(range, { rule: 'self.min <= self.max', message: 'upside down' }, { min: 3, max: 2 })).toEqual([
      'v: Invalid value: upside down',
    ]);
    expect(verdict({ type: 'integer' }, { rule: 'self > 5' }, 1)).toEqual(['v: Invalid value: 1: failed rule: self > 5']);
  });

  test('may compute its message, name a field below and choose the reason', () => {
    const rule = {
      rule: 'has(self.note)',
      messageExpression: "'needed from ' + string(self.min)",
      fieldPath: '.note',
      reason: 'FieldValueRequired',
    };
    expect(verdict(range, rule, { min: 3 })).toEqual(['v.note: Required value: needed from 3']);
  });

  test('about change waits for an old value', () => {
    const rule = { rule: 'self >= oldSelf' };
    expect(verdict({ type: 'integer' }, rule, 1)).toEqual([]);
    expect(verdict({ type: 'integer' }, rule, 1, 2)).toEqual(['v: Invalid value: 1: failed rule: self >= oldSelf']);
    expect(verdict({ type: 'integer' }, rule, 3, 2)).toEqual([]);
  });

  test('with optionalOldSelf judges a creation too', () => {
    const rule = { rule: 'oldSelf.hasValue() || self == 1', optionalOldSelf: true };
    expect(verdict({ type: 'integer' }, rule, 2)).toHaveLength(1);
    expect(verdict({ type: 'integer' }, rule, 2, 7)).toEqual([]);
  });

  test('does not judge an unchanged value anew', () => {
    expect(verdict({ type: 'integer' }, { rule: 'self > 5' }, 1, 1)).toEqual([]);
  });

  test('says what it tolerates', () => {
    const schema: JsonSchema = { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 5' }] };
    const tolerated: FieldError[] = [];
    const validate = compileRules({ type: 'object', properties: { v: schema, other: { type: 'string' } } });
    expect(validate?.({ v: 1, other: 'new' }, { value: { v: 1, other: 'old' } }, tolerated)).toEqual([]);
    expect(tolerated.map(({ field, body }) => `${field}: ${body}`)).toEqual(['v: Invalid value: 1: failed rule: self > 5']);
  });

  test('that cannot be evaluated is an error of its own', () => {
    const rule = { rule: 'self.max > 0' };
    expect(verdict(range, rule, { min: 1 })).toEqual(['v: Invalid value: "object": no such key: max evaluating rule: self.max > 0']);
  });
});

describe('values in rules', () => {
  test.each<[string, JsonSchema, string, unknown]>([
    [
      'lists of objects',
      { type: 'array', items: { type: 'object', properties: { q: { type: 'integer' } } } },
      'self.all(x, x.q > 0)',
      [{ q: 1 }],
    ],
    ['maps', { type: 'object', additionalProperties: { type: 'integer' } }, "self.all(k, k.startsWith('a') && self[k] > 0)", { ab: 1 }],
    ['times', { type: 'string', format: 'date-time' }, "self > timestamp('2020-01-01T00:00:00Z')", '2021-01-01T00:00:00Z'],
    ['durations', { type: 'string', format: 'duration' }, "self > duration('1m')", '1h'],
    ['numbers or texts', { 'x-kubernetes-int-or-string': true }, "type(self) == int ? self > 1 : self == '50%'", 2],
    [
      'names that are no identifiers',
      { type: 'object', properties: { namespace: { type: 'string' }, 'a-b': { type: 'integer' } } },
      "self.__namespace__ == 'x' && self.a__dash__b == 1",
      { namespace: 'x', 'a-b': 1 },
    ],
    ['optional fields', { type: 'object', properties: { a: { type: 'string' } } }, "self.?a.orValue('q') == 'q'", {}],
    [
      'null',
      { type: 'object', properties: { a: { type: 'string', nullable: true } } },
      "dyn(self.a) == null || self.a == 'x'",
      { a: null },
    ],
    ['the list library', { type: 'array', items: { type: 'integer' } }, 'self.sum() == 3 && self.max() == 2 && self.isSorted()', [1, 2]],
    ['sets', { type: 'array', items: { type: 'string' } }, "sets.contains(self, ['a']) && sets.equivalent(self, ['b', 'a'])", ['a', 'b']],
    ['the URL library', { type: 'string' }, "isURL(self) && url(self).getHost() == 'h:1'", 'https://h:1/p'],
    ['the IP library', { type: 'string' }, "isIP(self) && cidr('10.0.0.0/8').containsIP(ip(self))", '10.1.1.1'],
    [
      'the quantity library',
      { type: 'string' },
      "isQuantity(self) && quantity(self).isLessThan(quantity('2Gi')) && quantity(self).add(quantity('1Gi')) == quantity('2Gi')",
      '1Gi',
    ],
    ['regular expressions', { type: 'string' }, "self.matches('^[a-z]+[0-9]$') && self.find('[0-9]') == '1'", 'abc1'],
    ['named formats', { type: 'string' }, '!format.dns1123Label().validate(self).hasValue()', 'abc-1'],
    [
      'semantic versions',
      { type: 'string' },
      "isSemver(self) && semver(self).isGreaterThan(semver('1.0.0')) && semver(self).minor() == 2",
      '1.2.3',
    ],
  ])('%s', (_what, schema, rule, value) => {
    expect(ruleChecker(schema, false)?.({ rule }).problems).toEqual([]);
    expect(verdict(schema, { rule }, value)).toEqual([]);
  });
});

describe('a rule that cannot be right is refused with its CRD', () => {
  test.each<[string, ValidationRule, string]>([
    ['an unknown field', { rule: 'self.nope == 1' }, 'rule'],
    ['a comparison of different types', { rule: "self.min == 'x'" }, 'rule'],
    ['no verdict', { rule: 'self.min' }, 'rule'],
    ['a message that is no text', { rule: 'true', messageExpression: 'self.min' }, 'messageExpression'],
    ['a syntax error', { rule: 'self.' }, 'rule'],
  ])('%s', (_what, rule, field) => {
    expect(ruleChecker(range, false)?.(rule).problems.map((each) => each.field)).toEqual([field]);
  });
});

describe('rules of one object', () => {
  const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';
  /** A rule that costs as many units as the value says. */
  const costing = 'lists.range(self - 15).size() >= 0';
  const found = (rules: ValidationRule[], numbers: number[], old?: number[]): string[] => {
    const items: JsonSchema = { type: 'integer', 'x-kubernetes-validations': rules };
    const validate = compileRules({ type: 'object', properties: { v: { type: 'array', items } } });
    return (validate?.({ v: numbers }, old && { value: { v: old } }) ?? []).map(({ field, body }) => `${field}: ${body}`);
  };
  const million = 1_000_000;
  const tenMillions = Array.from({ length: 10 }, () => million);

  test('may cost ten millions together', () => {
    expect(found([{ rule: costing }], tenMillions)).toEqual([]);
  });

  test('are not evaluated any more once that is spent', () => {
    expect(found([{ rule: costing }], [...tenMillions, 20, 20])).toEqual([`v[10]: Invalid value: "integer": ${OUT_OF_BUDGET}`]);
  });

  test('are not evaluated any more when one costs more than is left; what was found before stays', () => {
    const rules = [{ rule: 'self != 20' }, { rule: costing }];
    expect(found(rules, [20, ...tenMillions, 20])).toEqual([
      'v[0]: Invalid value: 20: failed rule: self != 20',
      `v[10]: Invalid value: "integer": ${OUT_OF_BUDGET}`,
    ]);
  });

  test('are not evaluated any more after one that costs more than a million', () => {
    expect(found([{ rule: 'self != 20' }, { rule: costing, message: 'too dear' }], [million + 1, 20])).toEqual([
      `v[0]: Invalid value: "integer": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: too dear`,
    ]);
  });

  test('spend the same budget for their messages', () => {
    const message = 'string(lists.range(self - 15).size())';
    expect(found([{ rule: 'self == 0', messageExpression: message }], [20])).toEqual(['v[0]: Invalid value: 20: 5']);
    const errors = found([{ rule: 'self == 0', messageExpression: message }], [...tenMillions, 20]);
    expect(errors).toHaveLength(10);
    expect(errors.at(-1)).toBe(
      'v[9]: Invalid value: "integer": messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
    );
  });

  test('are not evaluated any more after a message that costs more than a million', () => {
    const message = 'string(lists.range(self).size())';
    expect(found([{ rule: 'self == 0', messageExpression: message }], [million, 20])).toEqual([
      `v[0]: Invalid value: "integer": no further validation rules will be run due to call cost exceeds limit for messageExpression: "${message}"`,
    ]);
  });
});
