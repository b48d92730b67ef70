import { expect, test } from 'vitest';
import { Fields } from '../../../../../shared/kube/kubeconfig/fields.ts';

test('a path leads to every field that is complained about', () => {
  const inner = Fields.of({ a: { b: [{}, { c: 1 }] } }, 'F')
    .record('a')
    ?.records('b')[1];
  expect(() => inner?.text('c')).toThrow('F: a.b[1].c is not text; put quotes around it');
  expect(() => inner?.truth('c')).toThrow('F: a.b[1].c is neither true nor false');
  expect(() => inner?.records('c')).toThrow('F: a.b[1].c is not a list');
});

test('what every object inherits is no field', () => {
  expect(Fields.of({}, 'F').value('constructor')).toBeUndefined();
});
