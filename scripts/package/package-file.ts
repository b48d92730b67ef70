/** Fields of the project's package.json that concern its users. */
export type ProjectFile = {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly type: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
};

/** The oldest Node on which the bundled packages run: undici needs the most. */
export const OLDEST_NODE = '22.19.0';
const HOME = 'https://github.com/switchyard/switchyard';

/** The package.json of what is published: all packages are bundled, so it depends on none. */
export const packageFile = (project: ProjectFile): string => {
  const { name, version, description, license, type, peerDependencies, peerDependenciesMeta } = project;
  return `${JSON.stringify(
    {
      name,
      version,
      description,
      license,
      homepage: HOME,
      repository: { type: 'git', url: `git+${HOME}.git` },
      type,
      engines: { node: `>=${OLDEST_NODE}` },
      bin: fromDist(project.bin),
      exports: fromDist(project.exports),
      peerDependencies,
      peerDependenciesMeta,
    },
    undefined,
    2,
  )}\n`;
};

/** Paths in the project begin with the folder that becomes the package. */
const fromDist = (paths: object): unknown => JSON.parse(JSON.stringify(paths).replaceAll(/"(\.\/)?dist\//g, '"$1'));
