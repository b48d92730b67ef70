import type { Environment } from '@marcbachmann/cel-js';

/** A semantic version in a rule. Build metadata plays no part. */
class Semver {
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly prerelease: readonly string[];
  constructor(text: string) {
    const match = STRICT.exec(text);
    if (match === null)
      throw new Error(
        text.split('.').length < 3
          ? 'No Major.Minor.Patch elements found'
          : `Invalid character(s) found in version ${JSON.stringify(text)}`,
      );
    const [, major = '0', minor = '0', patch = '0', prerelease] = match;
    this.numbers = [BigInt(major), BigInt(minor), BigInt(patch)];
    this.prerelease = prerelease === undefined ? [] : prerelease.split('.');
  }
}

const NUMBER = '(0|[1-9]\\d*)';
const STRICT = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?(?:\\+[0-9A-Za-z.-]+)?$`);
const TYPE = 'kubernetes.Semver';

/** `semver(text, true)` also takes a leading v, missing parts and leading zeros. */
function normalized(text: string): string {
  const [core = '', ...rest] = text.replace(/^v/, '').split(/(?=[-+])/);
  const parts = core.split('.').map((part) => part.replace(/^0+(?=\d)/, ''));
  while (parts.length < 3) parts.push('0');
  return parts.join('.') + rest.join('');
}

const parses = (text: string): boolean => {
  try {
    return new Semver(text).numbers.length === 3;
  } catch {
    return false;
  }
};

function compare(a: Semver, b: Semver): number {
  for (const [i, number] of a.numbers.entries()) {
    const other = b.numbers[i] ?? 0n;
    if (number !== other) return number < other ? -1 : 1;
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0) return Math.sign(b.prerelease.length - a.prerelease.length);
  for (const [i, part] of a.prerelease.entries()) {
    const other = b.prerelease[i];
    if (other === undefined) return 1;
    if (part !== other) return comparePrerelease(part, other);
  }
  return a.prerelease.length < b.prerelease.length ? -1 : 0;
}

/** Numbers come before words, and are compared as numbers. */
function comparePrerelease(a: string, b: string): number {
  const [left, right] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (left !== right) return left ? -1 : 1;
  return left ? Math.sign(Number(a) - Number(b)) : a < b ? -1 : 1;
}

/** `semver('1.2.3')` and comparisons. */
export function registerSemverLibrary(environment: Environment): void {
  environment
    .registerType(TYPE, { ctor: Semver, fields: {} })
    .registerFunction(`semver(string): ${TYPE}`, (text: string) => new Semver(text))
    .registerFunction(
      `semver(string, bool): ${TYPE}`,
      (text: string, normalize: boolean) => new Semver(normalize ? normalized(text) : text),
    )
    .registerFunction('isSemver(string): bool', parses)
    .registerFunction('isSemver(string, bool): bool', (text: string, normalize: boolean) => parses(normalize ? normalized(text) : text))
    .registerOperator(`${TYPE} == ${TYPE}`, (a: Semver, b: Semver) => compare(a, b) === 0)
    .registerFunction(`${TYPE}.major(): int`, ({ numbers }: Semver) => numbers[0])
    .registerFunction(`${TYPE}.minor(): int`, ({ numbers }: Semver) => numbers[1])
    .registerFunction(`${TYPE}.patch(): int`, ({ numbers }: Semver) => numbers[2])
    .registerFunction(`${TYPE}.compareTo(${TYPE}): int`, (a: Semver, b: Semver) => BigInt(compare(a, b)))
    .registerFunction(`${TYPE}.isLessThan(${TYPE}): bool`, (a: Semver, b: Semver) => compare(a, b) < 0)
    .registerFunction(`${TYPE}.isGreaterThan(${TYPE}): bool`, (a: Semver, b: Semver) => compare(a, b) > 0);
}
