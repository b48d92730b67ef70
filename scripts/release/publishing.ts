/** What brings a release to where others take it from. `needs` is the program without which a step is left out, and said. */
export type PublishingStep = { readonly needs: string; readonly command: readonly [string, ...string[]] };

/** In their order. `files` are the artefacts that were made, by name, in the folder in which the commands run. */
export function publishingSteps(release: {
  readonly version: string;
  /** Such as ghcr.io/switchyard. */
  readonly registry: string;
  readonly files: readonly string[];
}): PublishingStep[] {
  const { version, registry, files } = release;
  const image = `${registry}/switchyard:${version}`;
  const charts = files.filter((file) => /^switchyard-(manager|worker)-.*\.tgz$/.test(file));
  const chartOf = (file: string): string => file.slice(0, file.length - `-${version}.tgz`.length);
  const sign = (...args: readonly string[]): PublishingStep => ({ needs: 'cosign', command: ['cosign', ...args] });
  return [
    ...charts.map((file): PublishingStep => ({ needs: 'helm', command: ['helm', 'push', file, `oci://${registry}/charts`] })),
    // Keyless: who signs is who the registry's identity provider says.
    sign('sign-blob', '--yes', '--bundle', 'SHA256SUMS.bundle', 'SHA256SUMS'),
    sign('sign', '--yes', image),
    sign('attest', '--yes', '--type', 'cyclonedx', '--predicate', 'sbom.cdx.json', image),
    ...charts.map((file) => sign('sign', '--yes', `${registry}/charts/${chartOf(file)}:${version}`)),
  ];
}
