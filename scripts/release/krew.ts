/** The manifest, as krew's index names it: by its plugin. */
export const PLUGIN_MANIFEST = 'switchyard.yaml';

export const pluginArchive = (version: string): string => `kubectl-switchyard-${version}.tar.gz`;

/** The manifest of the plugin for krew, of a template with `VERSION`, `ARCHIVE` and `SHA256` in it. */
export function pluginManifest(template: string, { version, sha256 }: { readonly version: string; readonly sha256: string }): string {
  const values = { VERSION: version, ARCHIVE: pluginArchive(version), SHA256: sha256 };
  return Object.entries(values).reduce((text, [name, value]) => {
    if (!text.includes(name)) throw new Error(`the template of the plugin has no ${name}`);
    return text.replaceAll(name, value);
  }, template);
}
