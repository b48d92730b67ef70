import { expect, test } from 'vitest';
import {
  configKeyProblems,
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  envVarNameProblems,
  httpHeaderNameProblems,
  httpPathProblems,
  labelValueProblems,
  pathSegmentProblems,
  portNameProblems,
  qualifiedNameProblems,
} from '../../../../shared/kube/name-formats.ts';

test.each([
  ['dns1123Label', dns1123LabelProblems, ['a', '0-9', 'x'.repeat(63)], ['', 'A', 'a.b', '-a', 'x'.repeat(64)]],
  ['dns1123Subdomain', dns1123SubdomainProblems, ['a', 'a.b-c'], ['', 'a..b', 'a.', 'A', 'x'.repeat(254)]],
  ['dns1035Label', dns1035LabelProblems, ['a', 'a-1'], ['1a', 'a-', 'A']],
  ['qualifiedName', qualifiedNameProblems, ['a', 'A_b', 'example.com/a'], ['', '/a', 'a/', 'a/b/c', 'Example/a', 'a b']],
  ['labelValue', labelValueProblems, ['', 'a', 'A.b'], ['-', 'a b', 'x'.repeat(64)]],
  ['configKey', configKeyProblems, ['key.name', 'KEY', 'a-b'], ['', 'a/b', '.', '..', '..a']],
  ['envVarName', envVarNameProblems, ['PATH', 'a.b-c', '1'], ['', 'a=b', 'ä']],
  ['portName', portNameProblems, ['http', 'a-1'], ['', '1', 'a--b', '-a', 'A', 'x'.repeat(16)]],
  ['httpHeaderName', httpHeaderNameProblems, ['X-Header', 'a'], ['', 'a b', 'a:']],
  ['httpPath', httpPathProblems, ['/a/b', '/'], ['', 'a b']],
  ['pathSegment', pathSegmentProblems, ['a', '...'], ['.', '..', 'a/b', 'a%b']],
] as const)('%s', (_name, problems, good, bad) => {
  expect(good.filter((text) => problems(text).length > 0)).toEqual([]);
  expect(bad.filter((text) => problems(text).length === 0)).toEqual([]);
});

test('a label with dots is told so, and nothing else', () => {
  expect(dns1123LabelProblems('a.b')).toEqual(['must not contain dots']);
});

test('lengths are counted in bytes', () => {
  expect(labelValueProblems('ä'.repeat(32))[0]).toBe('must be no more than 63 bytes');
});
