/** Goal: docs/operations.md promises nothing that no test does: each procedure is followed by one, and each figure has been measured. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { canInstall, ROOT } from '../../support/installation.ts';
import { shellBlocks } from '../../support/shell-document.ts';
import { isSlow } from '../../support/slow.ts';

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

test.each(['docs/operations.md', 'docs/uninstall.md', 'docs/install.md', 'docs/joining.md'])(
  'each procedure of %s is followed by a test',
  (document) => {
    const folders = ['test/e2e/operations', 'test/e2e'];
    const tests = folders.flatMap((folder) =>
      readdirSync(path.join(ROOT, folder))
        .filter((file) => file.endsWith('.test.ts'))
        .map((file) => read(`${folder}/${file}`)),
    );
    const isFollowed = (heading: string): boolean =>
      tests.some(
        (text) =>
          text.includes(`follow('${document}')`) ||
          ((text.includes(`'${document.split('/')[1]}'`) || text.includes(document)) && text.includes(`'${heading}'`)),
      );
    const headings = new Set(shellBlocks(read(document)).map(({ heading }) => heading));
    expect(headings.size).toBeGreaterThan(1);
    expect([...headings].filter((heading) => !isFollowed(heading))).toEqual([]);
  },
);

test('the figures by which capacity is planned stand where they were measured', () => {
  const section = read('docs/operations.md').split('\n## Capacity\n')[1] ?? '';
  const measured = section
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2)
    .map((line) => line.split('|')[2] ?? '');
  const figures = measured.flatMap((text) => text.match(/\d+\.\d+( %)?|\d{3,} (?:MiB|ms)|\b\d{2}\b(?= one-pod)/g) ?? []);
  expect(figures.length).toBeGreaterThan(8);
  const known = `${read('docs/benchmarks.md')}${read('README.md')}`;
  expect(figures.filter((figure) => !known.includes(figure.replace(/ ms$/, '')))).toEqual([]);
});

test.skipIf(isSlow && canInstall())('the procedures themselves', ({ skip }) =>
  skip('each takes half a minute or more: SWITCHYARD_SLOW=1, as root, with kubectl on the PATH'),
);
