import { expect, test } from 'vitest';
import { innerPackageFile, withPlainNames } from '../../../../scripts/package/plain-javascript.ts';

test('names of files end as the files of the package do, and other text stays', () => {
  const source = [
    "import { a } from './a.ts';",
    "const load = () => import('../b/c-d.ts');",
    "launch('manager/main.ts');",
    "say('write scripts in a.ts files');",
    "import x from 'node:path';",
  ];
  expect(withPlainNames(source.join('\n')).split('\n')).toEqual([
    "import { a } from './a.js';",
    "const load = () => import('../b/c-d.js');",
    "launch('manager/main.js');",
    "say('write scripts in a.ts files');",
    "import x from 'node:path';",
  ]);
});

test('the inner package.json says what the program needs to know of itself', () => {
  expect(JSON.parse(innerPackageFile({ name: 'x', version: '1.2.3' }))).toEqual({ name: 'x', version: '1.2.3', type: 'module' });
});
