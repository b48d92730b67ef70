import { expect, test } from 'vitest';
import { evaluate } from './evaluate.ts';

test.each([
  ["semver('1.2.3').major()", 1n],
  ["semver('1.2.3').minor()", 2n],
  ["semver('1.2.3').patch()", 3n],
  ["semver('1.2.3').isLessThan(semver('1.10.0'))", true],
  ["semver('1.0.0').isGreaterThan(semver('1.0.0-rc.1'))", true],
  ["semver('1.0.0-rc.2').compareTo(semver('1.0.0-rc.10'))", -1n],
  ["semver('1.0.0-1').compareTo(semver('1.0.0-alpha'))", -1n],
  ["semver('1.0.0-a.b').compareTo(semver('1.0.0-a'))", 1n],
  ["semver('1.0.0+build') == semver('1.0.0')", true],
  ["isSemver('v1.0')", false],
  ["isSemver('v1.0', true)", true],
  ["isSemver('01.0.0')", false],
  ["semver('v01.2', true) == semver('1.2.0')", true],
])('%s is %s', (expression, value) => {
  expect(evaluate(expression)).toEqual(value);
});

test('a text that is no version is an error that names it', () => {
  expect(evaluate("semver('one').major() == 1")).toBe('error: No Major.Minor.Patch elements found');
});
