/** As the charts name it. */
export const REPOSITORY = 'ghcr.io/switchyard/switchyard';

/** The engines that can build the image, in the order in which they are tried. */
export const ENGINES = ['docker', 'podman', 'nerdctl', 'buildah'] as const;
export type Engine = (typeof ENGINES)[number];

export type ImageWish = {
  /** NAME:TAG. */
  readonly tag: string;
  /** `sha256:...` of the base image; undefined: whatever is under its tag. */
  readonly nodeDigest: string | undefined;
  /** Such as `linux/arm64`; undefined: that of this machine. */
  readonly platform: string | undefined;
  /** Of the sources, for `org.opencontainers.image.revision`; undefined: not known. */
  readonly revision: string | undefined;
  /** Seconds since 1970 that files and layers are to carry, by which two builds of the same sources are alike. */
  readonly sourceDateEpoch: number | undefined;
  readonly version: string;
  /** The folder with the Dockerfile. */
  readonly context: string;
  /** File for an archive of the image, which `docker load` reads; undefined: none. */
  readonly save: string | undefined;
  readonly push: boolean;
};

/** Command lines, to be run in order until one fails. */
export function imageCommands(engine: Engine, wish: ImageWish): readonly (readonly [string, ...string[]])[] {
  const build: [string, ...string[]] = [
    engine,
    'build',
    `--tag=${wish.tag}`,
    ...(wish.nodeDigest === undefined ? [] : [`--build-arg=NODE_DIGEST=@${wish.nodeDigest}`]),
    ...(wish.platform === undefined ? [] : [`--platform=${wish.platform}`]),
    ...(wish.sourceDateEpoch === undefined ? [] : [`--build-arg=SOURCE_DATE_EPOCH=${wish.sourceDateEpoch}`]),
    `--label=org.opencontainers.image.version=${wish.version}`,
    ...(wish.revision === undefined ? [] : [`--label=org.opencontainers.image.revision=${wish.revision}`]),
    wish.context,
  ];
  return [
    build,
    [engine, 'images', wish.tag],
    ...(wish.save === undefined ? [] : [saveCommand(engine, wish.tag, wish.save)]),
    ...(wish.push ? [[engine, 'push', wish.tag] as const] : []),
  ];
}

/** All write the archive of `docker save`, which every other one loads. */
function saveCommand(engine: Engine, tag: string, file: string): readonly [string, ...string[]] {
  switch (engine) {
    case 'buildah':
      return ['buildah', 'push', tag, `docker-archive:${file}:${tag}`];
    case 'podman':
      return ['podman', 'save', '--format=docker-archive', `--output=${file}`, tag];
    default:
      return [engine, 'save', `--output=${file}`, tag];
  }
}

/** What tells whether an engine is there and works: docker without its daemon is of no use. */
export const probeCommand = (engine: Engine): readonly [string, ...string[]] => [engine, engine === 'buildah' ? 'version' : 'info'];

/** What somebody is told for whom there is none; `found` are those that are installed and give no answer. */
export const withoutEngine = (found: readonly Engine[]): string =>
  [
    found.length === 0
      ? `none of ${ENGINES.join(', ')} is installed`
      : `${found.join(', ')} is installed and gives no answer: is its daemon running?`,
    'The image needs one of them: on Debian and Ubuntu `sudo apt-get install buildah` brings one that needs no daemon. Then run this command again.',
    'Without any, `node scripts/image/assemble.ts --into DIR` writes the tree that the image has in /app, which Node 24 runs as it is.',
  ].join('\n');
