import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { OLDEST_NODE } from '../../../../scripts/package/package-file.ts';
import { PLUGIN_MANIFEST, pluginManifest } from '../../../../scripts/release/krew.ts';

const TEMPLATE = readFileSync(path.join(import.meta.dirname, '../../../../scripts/release', PLUGIN_MANIFEST), 'utf8');

test('the manifest names the archive of the release with its sum, as krew demands', () => {
  const sha256 = 'ab'.repeat(32);
  const manifest = parse(pluginManifest(TEMPLATE, { version: '1.2.3', sha256 })) as {
    metadata: { name: string };
    spec: { version: string; shortDescription: string; caveats: string; platforms: { uri: string; sha256: string; bin: string }[] };
  };
  expect(manifest).toMatchObject({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: PLUGIN_MANIFEST.replace('.yaml', '') },
    spec: {
      version: 'v1.2.3',
      platforms: [
        {
          uri: 'https://github.com/switchyard/switchyard/releases/download/v1.2.3/kubectl-switchyard-1.2.3.tar.gz',
          sha256,
          bin: 'kubectl-switchyard.mjs',
        },
      ],
    },
  });
  // The index refuses more.
  expect(manifest.spec.shortDescription.length).toBeLessThanOrEqual(50);
  expect(manifest.spec.caveats).toContain(`\`node\` ${OLDEST_NODE.replace(/\.0$/, '')} or newer`);
});

test('a template without a place for a value is refused', () => {
  expect(() => pluginManifest('version: VERSION', { version: '1.2.3', sha256: 'x' })).toThrow('has no ARCHIVE');
});
