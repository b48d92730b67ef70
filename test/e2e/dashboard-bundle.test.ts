/**
 * What browsers are sent of the dashboard, as it is built: how much it is, and that nothing in it needs what the policy of the page
 * forbids.
 */
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildPage } from '../../manager/cli/local/dashboard.ts';
import { readStaticFiles } from '../../manager/http/read-static-files.ts';
import type { StaticFile } from '../../manager/http/static-files.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
/** 150 KB is what was asked for; the page is far below, and is not to grow unseen. */
const COMPRESSED_BYTES_MAX = 80 * 1024;
/** Names of kinds of XML, which nobody asks. */
const NAMESPACES = /^http:\/\/www\.w3\.org\//;

let files: readonly StaticFile[];
beforeAll(async () => {
  expect(await buildPage(ROOT)).toBeUndefined();
  files = await readStaticFiles(path.join(ROOT, 'manager', 'dashboard', 'dist'));
});
const textOf = ({ body }: StaticFile): string => Buffer.from(body).toString();
const ofType = (type: string): readonly StaticFile[] => files.filter((file) => file.path.endsWith(`.${type}`));

test('all of it, compressed, is less than 80 KiB', () => {
  expect(files.map((file) => file.path).toSorted()).toEqual(expect.arrayContaining(['icon.svg', 'index.html']));
  const bytes = files.map(({ body, encoded }) => encoded.find(({ coding }) => coding === 'gzip')?.body.byteLength ?? body.byteLength);
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(COMPRESSED_BYTES_MAX);
});

test('no part of it names another host', () => {
  const named = files.flatMap((file) =>
    [...textOf(file).matchAll(/(?:https?:)?\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)+[^\s"'`)]*/gi)].map(([url]) => url),
  );
  expect(named.filter((url) => !NAMESPACES.test(url))).toEqual([]);
});

test('scripts and styles stand in files of their own, and no script is made of text', () => {
  const [page = ''] = ofType('html').map(textOf);
  expect([...page.matchAll(/<script(?![^>]*\bsrc=)/g)]).toEqual([]);
  expect(page).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:/i);
  for (const sheet of ofType('css').map(textOf)) expect(sheet).not.toMatch(/@import|expression\(/);
  for (const script of ofType('js').map(textOf)) expect(script).not.toMatch(/\beval\(|new Function\(|importScripts|document\.write/);
});

test('what is built is named by what is in it, but for the page itself and its icon', () => {
  expect(
    files
      .map((file) => file.path)
      .filter((file) => !/^assets\/[\w-]+-[\w-]{8}\.(?:js|css)$/.test(file))
      .toSorted(),
  ).toEqual(['icon.svg', 'index.html']);
});
