import { describe, expect, test } from 'vitest';
import { evaluate } from './evaluate.ts';

describe('named formats', () => {
  test.each([
    ['dns1123Label', 'my-name', 'My_Name'],
    ['dns1123Subdomain', 'example.com', 'example..com'],
    ['dns1035Label', 'abc-1', '1abc'],
    ['qualifiedName', 'example.com/name', 'a/b/c'],
    ['dns1123LabelPrefix', 'prefix-', '-prefix'],
    ['dns1123SubdomainPrefix', 'example.com-', '-example'],
    ['dns1035LabelPrefix', 'abc-', '1-'],
    ['labelValue', '', 'no spaces'],
    ['uri', '/path', 'no uri'],
    ['uuid', '123e4567-e89b-12d3-a456-426614174000', '123'],
    ['byte', 'aGVsbG8=', 'a'],
    ['date', '2026-01-31', '31.1.2026'],
    ['datetime', '2026-01-31T12:00:00Z', '2026-01-31 noon'],
  ])('%s takes %j and not %j', (format, good, bad) => {
    expect(evaluate(`format.${format}().validate('${good}').hasValue()`)).toBe(false);
    expect(evaluate(`format.${format}().validate('${bad}').hasValue()`)).toBe(true);
  });

  test('what is wrong is said in the words of the name rules', () => {
    expect(evaluate("format.dns1123Label().validate('a.b').value()")).toEqual(['must not contain dots']);
  });

  test('a format may be looked up by its name', () => {
    expect(evaluate("format.named('uuid').hasValue()")).toBe(true);
    expect(evaluate("format.named('toString').hasValue()")).toBe(false);
  });
});
