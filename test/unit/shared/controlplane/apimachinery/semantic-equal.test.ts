import { expect, test } from 'vitest';
import { semanticEqual } from '../../../../../shared/controlplane/apimachinery/semantic-equal.ts';

test.each([
  [{}, { a: [] }, true],
  [{ a: null }, {}, true],
  [{ a: [] }, { a: null }, true],
  [{ a: {} }, {}, false],
  [{ a: [1] }, { a: [1, 2] }, false],
  [{ a: [{ b: [] }] }, { a: [{}] }, true],
  [{ a: 0 }, {}, false],
  [{ a: '' }, {}, false],
  [[], {}, false],
  [undefined, [], true],
])('%j and %j mean the same: %s', (a, b, same) => {
  expect(semanticEqual(a, b)).toBe(same);
  expect(semanticEqual(b, a)).toBe(same);
});
