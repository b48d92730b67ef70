import { describe, expect, test } from 'vitest';
import { KubeconfigError } from '../../../../../shared/kube/kubeconfig/kubeconfig-error.ts';
import { readYamlDocument } from '../../../../../shared/kube/kubeconfig/yaml-document.ts';

const problemOf = (text: string): string => {
  try {
    readYamlDocument(text, 'F');
  } catch (error) {
    if (error instanceof KubeconfigError) return error.message;
    throw error;
  }
  return 'accepted';
};

describe('YAML', () => {
  test('is read as plain data, and is nothing where it says nothing', () => {
    expect(readYamlDocument('a: [1, {b: c}]', 'F')).toEqual({ a: [1, { b: 'c' }] });
    expect([readYamlDocument('', 'F'), readYamlDocument('# nothing', 'F'), readYamlDocument('null', 'F')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
  test('keeps names that every object inherits to itself', () => {
    const read = readYamlDocument('__proto__: {polluted: true}', 'F') as object;
    expect(Object.keys(read)).toEqual(['__proto__']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test.each<[string, string, RegExp]>([
    ['broken', 'a: {s3cret', /^F is not valid: it is not YAML \([A-Z_]+ in line \d+, column \d+\)$/],
    [
      'with a key that stands there twice',
      'a:\n  s3cret: 1\n  s3cret: 2\n',
      /^F is not valid: it is not YAML \(DUPLICATE_KEY in line 3, column 3\)$/,
    ],
    ['with an alias of nothing', 'a: *s3cret', /^F is not valid: its YAML aliases cannot be resolved; write the values out$/],
  ])('that is %s is refused without repeating it', (_what, text, problem) => {
    expect(problemOf(text)).toMatch(problem);
    expect(problemOf(text)).not.toContain('s3cret');
  });

  test('that would grow beyond all bounds is refused', () => {
    const levels = Array.from({ length: 12 }, (_, n) => `l${n + 1}: &l${n + 1} [${Array.from({ length: 9 }, () => `*l${n}`).join(', ')}]`);
    expect(problemOf(`l0: &l0 s3cret\n${levels.join('\n')}`)).toBe(
      'F is not valid: its YAML aliases cannot be resolved; write the values out',
    );
  });

  test('that is nested without end is refused', () => {
    expect(problemOf('['.repeat(100_000))).toMatch(/^F is not valid: /);
  });

  test('with many keys is read in linear time', () => {
    const keys = Array.from({ length: 20_000 }, (_, n) => `k${n}: ${n}`).join('\n');
    expect(Object.keys(readYamlDocument(keys, 'F') as object)).toHaveLength(20_000);
  });
});
