import type { ProductionPackage } from './production-packages.ts';

/**
 * Licences that ask for no more than to be named when the programs are passed on. Another one is a decision: take it in here, or choose
 * another package.
 */
export const ALLOWED_LICENSES: readonly string[] = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'PSF-2.0',
  'Unlicense',
];

export type LicenseReport = {
  /** docs/licenses.md. */
  readonly text: string;
  /** One sentence for each package whose licence is not allowed. */
  readonly refused: readonly string[];
};

export function licenseReport(packages: readonly ProductionPackage[]): LicenseReport {
  const refused = packages
    .filter(({ license }) => !isAllowed(license))
    .map(
      ({ name, version, license }) =>
        `${name} ${version}: ${license === '' ? 'no licence is stated' : `${license} is not on the list of allowed licences`}`,
    );
  const counts = Map.groupBy(packages, ({ license }) => license);
  const lists = [...counts]
    .toSorted(([a, of], [b, others]) => others.length - of.length || (a < b ? -1 : 1))
    .flatMap(([license, of]) => [
      '',
      `## ${license || 'none'}`,
      '',
      ...of.map(({ name, version, optional }) => `- ${name} ${version}${optional ? '*' : ''}`),
    ]);
  return {
    refused,
    text: [
      '# Licences',
      '',
      'Packages that the programs use. The image has them beside the programs, but for those with an asterisk; the package of a release and the',
      'plugin of kubectl have what they use of them within, and their licences in `THIRD-PARTY-NOTICES.txt`. `npm run licenses` fails when this file',
      'is out of date (`-- --write` writes it), or a licence is not on the list of `scripts/supply-chain/license-report.ts`.',
      ...lists,
      '',
    ].join('\n'),
  };
}

/** An SPDX expression without WITH: one of the alternatives is enough, all parts of one are needed. */
export function isAllowed(expression: string): boolean {
  const alternatives = expression.replaceAll(/[()]/g, ' ').split(/\s+OR\s+/);
  return alternatives.some((each) =>
    each
      .trim()
      .split(/\s+AND\s+/)
      .every((license) => ALLOWED_LICENSES.includes(license)),
  );
}
