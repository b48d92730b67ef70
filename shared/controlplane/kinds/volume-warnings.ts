import type { DecodedVolume } from './decoded.ts';

/** What has become of volume plugins that left upstream's tree. */
const DEPRECATED: readonly (readonly [plugin: keyof DecodedVolume, note: string])[] = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];
/** Upstream's warnings spell this one in its own way. */
const SPELLED: Readonly<Record<string, string>> = { storageos: 'storageOS' };

export const volumeWarnings = (volumes: readonly DecodedVolume[], path: string): string[] => [
  ...volumes.flatMap((volume, i) =>
    DEPRECATED.flatMap(([plugin, note]) => (volume[plugin] === undefined ? [] : [`${path}[${i}].${SPELLED[plugin] ?? plugin}: ${note}`])),
  ),
  ...tokenPathWarnings(volumes, path),
];

/** Files that take the place of a token. Upstream's paths name the list, not the source. */
const tokenPathWarnings = (volumes: readonly DecodedVolume[], path: string): string[] => {
  const sourcesOf = (volume: DecodedVolume) => volume.projected?.sources ?? [];
  const tokens = new Set(volumes.flatMap(sourcesOf).flatMap(({ serviceAccountToken }) => serviceAccountToken?.path ?? []));
  if (tokens.size === 0) return [];
  return volumes.flatMap((volume, i) =>
    sourcesOf(volume).flatMap(({ configMap, secret, downwardAPI }) => {
      const duplicates = (items: readonly { path?: string | undefined }[] | undefined, list: string): string[] =>
        (items ?? []).flatMap((item, j) =>
          tokens.has(item.path ?? '')
            ? [`${path}[${i}].projected.sources.${list}[${j}]: has duplicated path with ServiceAccountToken ${JSON.stringify(item.path)}`]
            : [],
        );
      return [
        ...duplicates(configMap?.items, 'configMap'),
        ...duplicates(secret?.items, 'secrets'),
        ...duplicates(downwardAPI?.items, 'downwardAPI'),
      ];
    }),
  );
};
