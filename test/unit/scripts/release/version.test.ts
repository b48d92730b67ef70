import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { changesOf, released, VERSIONED_FILES, versionProblem } from '../../../../scripts/release/version.ts';

const ROOT = path.join(import.meta.dirname, '..', '..', '..', '..');
const RELEASE = { version: '9.8.7', date: '2026-11-23' };
const textOf = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

test.each(VERSIONED_FILES)('%s says the new version, and is otherwise as it was', (file) => {
  const before = textOf(file).split('\n');
  const after = released(file, textOf(file), RELEASE).split('\n');
  const changed = after.filter((line) => !before.includes(line));
  const wanted: Readonly<Record<string, string[]>> = {
    'package.json': ['  "version": "9.8.7",'],
    'package-lock.json': ['  "version": "9.8.7",', '      "version": "9.8.7",'],
    'CHANGELOG.md': ['## 9.8.7 - 2026-11-23'],
  };
  expect(changed).toEqual(wanted[file] ?? ['version: 9.8.7', 'appVersion: "9.8.7"']);
});

describe('the changelog', () => {
  const CHANGELOG = '# Changelog\n\n## Unreleased\n\n- New.\n\n## 0.1.0 - 2026-01-01\n\n- First.\n';

  test('tells what has changed, under the version from now on', () => {
    const after = released('CHANGELOG.md', CHANGELOG, RELEASE);
    expect([changesOf(after, 'Unreleased'), changesOf(after, '9.8.7'), changesOf(after, '0.1.0')]).toEqual(['', '- New.', '- First.']);
  });

  test('must have something to tell, once', () => {
    const after = released('CHANGELOG.md', CHANGELOG, RELEASE);
    expect(() => released('CHANGELOG.md', after, { ...RELEASE, version: '9.8.8' })).toThrow('tells nothing under Unreleased');
    expect(() => released('CHANGELOG.md', after.replace('## Unreleased\n', '## Unreleased\n\n- More.\n'), RELEASE)).toThrow(
      'has a section 9.8.7 already',
    );
  });
});

test('a file that does not say its version is not guessed at', () => {
  expect(() => released('package.json', '{}', RELEASE)).toThrow('package.json does not say its version');
});

test.each([
  ['0.1.0', '0.1.0', undefined],
  ['0.1.1', '0.1.0', undefined],
  ['1.0.0-rc.1', '0.9.0', undefined],
  ['1.0.0', '1.0.0-rc.1', undefined],
  ['1.0.0-rc.1', '1.0.0', '1.0.0-rc.1 comes before 1.0.0'],
  ['0.0.9', '0.1.0', '0.0.9 is older than 0.1.0'],
  ['v1', '0.1.0', 'v1 is no version such as 1.2.3 or 1.2.3-rc.1'],
])('%s after %s: %s', (version, before, problem) => expect(versionProblem(version, before)).toBe(problem));
