/** One package that is installed with the programs, once for each version. */
export type ProductionPackage = {
  readonly name: string;
  readonly version: string;
  /** As the package states it: an SPDX expression, or nothing. */
  readonly license: string;
  /** Hashes as npm keeps them, such as `sha512-…`. */
  readonly integrity: string;
  /** The programs work without it: it is left out of the image. */
  readonly optional: boolean;
};

export type PackageLock = {
  readonly packages?: Readonly<Record<string, LockEntry>>;
};
type LockEntry = {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
  /** A link to a folder of this repository, whose own entry says the rest. */
  readonly link?: boolean;
};

/** What package-lock.json installs without development dependencies, by name and version. */
export function productionPackages({ packages = {} }: PackageLock): ProductionPackage[] {
  const found = new Map<string, ProductionPackage>();
  for (const [place, entry] of Object.entries(packages)) {
    if (place === '' || entry.dev === true || entry.link === true) continue;
    const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const { version = '', license = '', integrity = '' } = entry;
    const optional = entry.optional === true || entry.devOptional === true;
    const known = found.get(`${name}@${version}`);
    found.set(`${name}@${version}`, { name, version, license, integrity, optional: optional && known?.optional !== false });
  }
  return [...found.values()].toSorted((a, b) => compare(a.name, b.name) || compare(a.version, b.version));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
