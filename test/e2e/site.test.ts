/** Goal: `npm run docs` builds the documents as a site, as a user types it: a page for each document, none that a link does not find. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { isSlow } from '../support/slow.ts';

const LIMIT_MS = 900_000;
const ROOT = path.join(import.meta.dirname, '..', '..');
const DOCS = path.join(ROOT, 'docs');
const SITE = path.join(DOCS, '.vitepress', 'dist');

/** Names of pages without their endings, in these folders of the documents or the site. */
const pagesIn = (root: string, ending: string): string[] =>
  ['.', 'decisions', 'runbooks'].flatMap((folder) =>
    readdirSync(path.join(root, folder))
      .filter((name) => name.endsWith(ending) && name !== '404.html')
      .map((name) => path.posix.join(folder, name.slice(0, -ending.length).replace(/^README$/, 'index'))),
  );

test.skipIf(!isSlow)('npm run docs makes a page of each document, with search and a navigation', { timeout: LIMIT_MS }, () => {
  // Links that lead nowhere fail the build.
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/run.mjs', 'docs'], { cwd: ROOT, encoding: 'utf8' });
  expect(status, `${stdout}${stderr}`).toBe(0);
  expect(pagesIn(SITE, '.html').toSorted()).toEqual(pagesIn(DOCS, '.md').toSorted());
  const page = readFileSync(path.join(SITE, 'concepts.html'), 'utf8');
  expect(page).toContain('<a class="VPLink link link" href="/tutorial.html"');
  const index = readdirSync(path.join(SITE, 'assets', 'chunks')).filter((name) => name.startsWith('@localSearchIndex'));
  expect(index).toHaveLength(1);
});
