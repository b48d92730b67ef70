import { expect, test } from 'vitest';
import { jsonSyntaxProblem } from '../../../../../shared/controlplane/schema/json-syntax.ts';

const problems: readonly (readonly [string, string])[] = [
  ['', 'unexpected end of JSON input'],
  ['{', 'unexpected end of JSON input'],
  ['{"a":1', 'unexpected end of JSON input'],
  ['"x', 'unexpected end of JSON input'],
  ['tru', 'unexpected end of JSON input'],
  ['metadata: {}', "invalid character 'm' looking for beginning of value"],
  ["{'a':1}", String.raw`invalid character '\'' looking for beginning of object key string`],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b":2}', `invalid character '"' after object key:value pair`],
  ['[1 2]', "invalid character '2' after array element"],
  ['{} x', "invalid character 'x' after top-level value"],
  ['"a\nb"', String.raw`invalid character '\n' in string literal`],
  [String.raw`"\q"`, "invalid character 'q' in string escape code"],
  [String.raw`"\u12g4"`, String.raw`invalid character 'g' in \u hexadecimal character escape`],
  ['-x', "invalid character 'x' in numeric literal"],
  ['01', "invalid character '1' after top-level value"],
  ['1.x', "invalid character 'x' after decimal point in numeric literal"],
  ['1ex', "invalid character 'x' in exponent of numeric literal"],
  ['nope', "invalid character 'o' in literal null (expecting 'u')"],
  ['\u00e9', String.raw`invalid character 'Ã' looking for beginning of value`],
];
test.each(problems)('%j: %s', (text, problem) => {
  expect(jsonSyntaxProblem(text)).toBe(problem);
});

test.each(['null', ' {"a": [1, -0.5e+3, true, "\\u00e9\\n"]} ', '[]', '{}'])('%s is JSON', (text) => {
  expect(jsonSyntaxProblem(text)).toBeUndefined();
});
