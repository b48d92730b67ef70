/** What a release changes in the sources: the version where it stands, and the heading of the changelog. */

export type Release = {
  readonly version: string;
  /** `2026-11-23`. */
  readonly date: string;
};

/** Files that say the version, from the top of the project. */
export const VERSIONED_FILES = [
  'package.json',
  'package-lock.json',
  'charts/switchyard-manager/Chart.yaml',
  'charts/switchyard-worker/Chart.yaml',
  'CHANGELOG.md',
] as const;
export type VersionedFile = (typeof VERSIONED_FILES)[number];

/** The file as of this release. Throws where it does not say a version as it should, or has nothing to tell of this release. */
export function released(file: VersionedFile, text: string, { version, date }: Release): string {
  switch (file) {
    case 'package.json':
      return replacedOnce(file, text, /^ {2}"version": "[^"]+"/m, `  "version": "${version}"`);
    case 'package-lock.json': {
      const outer = replacedOnce(file, text, /^ {2}"version": "[^"]+"/m, `  "version": "${version}"`);
      return replacedOnce(file, outer, /(^ {4}"": \{\n {6}"name": "[^"]+",\n {6}"version": )"[^"]+"/m, `$1"${version}"`);
    }
    case 'CHANGELOG.md':
      if (changesOf(text, 'Unreleased') === '') throw new Error('CHANGELOG.md tells nothing under Unreleased');
      if (text.includes(`\n## ${version} `)) throw new Error(`CHANGELOG.md has a section ${version} already`);
      return replacedOnce(file, text, /^## Unreleased\n/m, `## Unreleased\n\n## ${version} - ${date}\n`);
    default: {
      const chart = replacedOnce(file, text, /^version: .*$/m, `version: ${version}`);
      return replacedOnce(file, chart, /^appVersion: .*$/m, `appVersion: "${version}"`);
    }
  }
}

/** What the changelog says under a heading (`Unreleased`, or a version), without the heading; '' where there is nothing. */
export function changesOf(changelog: string, heading: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((each) => each.split('\n', 1)[0]?.split(' ', 1)[0] === heading);
  return section === undefined ? '' : section.slice(section.indexOf('\n') + 1).trim();
}

const NUMBERS = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?$/;

/**
 * Why `version` may not follow `before`; undefined where it may. A pre-release comes before its release, and the one that stands there may
 * be released itself.
 */
export function versionProblem(version: string, before: string): string | undefined {
  const next = NUMBERS.exec(version);
  const last = NUMBERS.exec(before);
  if (next === null) return `${version} is no version such as 1.2.3 or 1.2.3-rc.1`;
  if (last === null) return `the sources say version ${before}, which is none`;
  for (const index of [1, 2, 3]) {
    const step = Number(next[index]) - Number(last[index]);
    if (step > 0) return undefined;
    if (step < 0) return `${version} is older than ${before}`;
  }
  return next[4] !== undefined && last[4] === undefined ? `${version} comes before ${before}` : undefined;
}

function replacedOnce(file: string, text: string, pattern: RegExp, by: string): string {
  if (!pattern.test(text)) throw new Error(`${file} does not say its version where it should`);
  return text.replace(pattern, by);
}
