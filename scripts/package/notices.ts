/** A package of others, parts of which are in what is passed on. */
export type BundledPackage = {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
  /** Its licence and notices, as it brings them. */
  readonly texts: readonly string[];
};

const RULE = '-'.repeat(80);

/** The licences of all packages, by name and version, each text once: what has to go with their code. */
export function noticesText(packages: readonly BundledPackage[]): string {
  const named = new Map<string, string[]>();
  for (const { name, version, license, texts } of packages.toSorted(byName)) {
    if (texts.length === 0) throw new Error(`${name} ${version} brings no licence; add its text by hand`);
    const text = texts.map((each) => each.trim()).join('\n\n');
    named.set(text, [...(named.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  const parts = [...named].map(([text, names]) => `${RULE}\n${names.join('\n')}\n\n${text}\n`);
  return `The programs contain code of the following packages, under the licences that follow their names.\n\n${parts.join('\n')}`;
}

const byName = (a: BundledPackage, b: BundledPackage): number => compare(a.name, b.name) || compare(a.version, b.version);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
