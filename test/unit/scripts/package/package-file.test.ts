import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { OLDEST_NODE, packageFile, type ProjectFile } from '../../../../scripts/package/package-file.ts';

const ROOT = path.join(import.meta.dirname, '../../../..');
const read = (file: string): unknown => JSON.parse(readFileSync(path.join(ROOT, file), 'utf8'));

test('what is published depends on no package, and names its files from its own top', () => {
  const published = JSON.parse(packageFile(read('package.json') as ProjectFile)) as Record<string, unknown>;
  expect(published).toMatchObject({
    name: 'switchyard',
    type: 'module',
    license: 'Apache-2.0',
    engines: { node: `>=${OLDEST_NODE}` },
    bin: { switchyard: 'manager/cli/main.js', 'kubectl-switchyard': 'manager/cli/main.js' },
    exports: {
      './client': { types: './shared/client/client.d.ts', default: './shared/client/client.js' },
      './schemas/*': './shared/client/schemas/*',
      './package.json': './package.json',
    },
    peerDependenciesMeta: { '@kubernetes/client-node': { optional: true } },
  });
  for (const field of ['dependencies', 'devDependencies', 'scripts', 'private', 'overrides']) expect(published).not.toHaveProperty(field);
});

test('no bundled package needs a newer Node than the package says', () => {
  const { packages } = read('package-lock.json') as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean; peer?: boolean; engines?: { node?: string } }>;
  };
  const oldest = (range: string): string => /^>= ?(\d+(?:\.\d+){0,2})/.exec(range)?.[1] ?? '0';
  const isNewer = (version: string): boolean => version.localeCompare(OLDEST_NODE, 'en', { numeric: true }) > 0;
  const bundled = Object.entries(packages).filter(
    ([place, { dev, devOptional, peer }]) => place !== '' && ![dev, devOptional, peer].includes(true),
  );
  expect(bundled.length).toBeGreaterThan(50);
  expect(bundled.filter(([, { engines }]) => isNewer(oldest(engines?.node ?? ''))).map(([place]) => place)).toEqual([]);
});

test('the documents name the same oldest Node', () => {
  const name = `Node ${OLDEST_NODE.replace(/\.0$/, '')}`;
  for (const file of ['docs/client.md', 'docs/submitting.md', 'docs/cli.md'])
    expect(readFileSync(path.join(ROOT, file), 'utf8').replaceAll('\n', ' '), file).toContain(name);
});
