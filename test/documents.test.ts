/**
 * Goal: readers find what the documents name. Every link of a Markdown file leads to a file and, where it has an anchor, to a heading;
 * docs/README.md lists every page; README stays short; commands exist.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { COMMANDS } from '../manager/cli/commands.ts';

const ROOT = path.join(import.meta.dirname, '..');
const documents = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(path.join(ROOT, file)));
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const withoutBlocks = (markdown: string): string => markdown.replaceAll(/^( *)```[\s\S]*?^\1```/gm, '');

/** The anchors that GitHub gives to headings. */
function anchorsOf(markdown: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutBlocks(markdown).matchAll(/^#{1,6} (.*)$/gm)) {
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = text.replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replaceAll(' ', '-');
    const before = seen.get(anchor) ?? 0;
    seen.set(anchor, before + 1);
    anchors.add(before === 0 ? anchor : `${anchor}-${before}`);
  }
  for (const [, id = ''] of markdown.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id);
  return anchors;
}

/** What is wrong with a link of a document; undefined where it leads somewhere. */
function problemOf(document: string, target: string): string | undefined {
  const [file = '', anchor] = target.split('#');
  const found = path.join(ROOT, path.dirname(document), decodeURIComponent(file));
  if (file !== '' && !existsSync(found)) return 'there is no such file';
  const page = file === '' ? path.join(ROOT, document) : found;
  if (anchor === undefined || statSync(page).isDirectory() || !page.endsWith('.md')) return undefined;
  return anchorsOf(readFileSync(page, 'utf8')).has(anchor) ? undefined : 'there is no such heading';
}

test('every link of a document leads somewhere', () => {
  const dead = documents.flatMap((document) =>
    [...withoutBlocks(read(document)).matchAll(/(?:\]\(|(?:src|srcset)=")([^)\s"]+)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z][a-z+.-]*:/.test(target))
      .flatMap((target) => {
        const problem = problemOf(document, target);
        return problem === undefined ? [] : [`${document}: ${target}: ${problem}`];
      }),
  );
  expect(documents.length).toBeGreaterThan(100);
  expect(dead).toEqual([]);
});

test('docs/README.md lists every page of docs once', () => {
  const listed = [...read('docs/README.md').matchAll(/^\| \[[^\]]+\]\(([^)]+)\)/gm)].map(([, page = '']) => page);
  const pages = documents
    .filter((file) => /^docs\/[^/]+\.md$/.test(file) && file !== 'docs/README.md')
    .map((file) => file.slice('docs/'.length));
  expect(listed.filter((page) => !/[/#]/.test(page)).toSorted()).toEqual(pages.toSorted());
});

test('README has at most 120 lines', () => {
  expect(read('README.md').split('\n').length - 1).toBeLessThanOrEqual(120);
});

/** What is written as a command line of `switchyard`: in a block of commands or in code within a sentence, up to what is not of it. */
function commandLinesIn(markdown: string): string[] {
  const code = [
    ...[...markdown.matchAll(/^ *```(?:sh|console)?\n([\s\S]*?)^ *```/gm)].flatMap(([, block = '']) =>
      block.replaceAll('\\\n', ' ').split('\n'),
    ),
    ...[...withoutBlocks(markdown).matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span),
  ];
  return code.flatMap((line) => {
    const called = /(?:^|[;&|(]|^\$)\s*(?:npm run -s switchyard --|(?:kubectl )?switchyard) ([a-z][^;|&#)]*)/.exec(line)?.[1];
    return called === undefined ? [] : [called.split(/ -- /)[0] ?? called];
  });
}

/** The command that the words name, and a flag that it does not have. */
function unknownIn(line: string): string | undefined {
  const words = line.trim().split(/\s+/);
  const command = COMMANDS.filter(({ words: name }) => `${words.join(' ')} `.startsWith(`${name} `)).toSorted(
    (a, b) => b.words.length - a.words.length,
  )[0];
  if (command === undefined) return words[0];
  const known = new Set([...Object.keys(command.flags), 'help']);
  return words.flatMap((word) => /^--([a-z][a-z-]*)/.exec(word)?.[1] ?? []).find((flag) => !known.has(flag));
}

test('commands and flags of switchyard that documents name exist', () => {
  const living = documents.filter((file) => file !== 'CHANGELOG.md' && !file.startsWith('docs/decisions/'));
  const lines = living.flatMap((document) => commandLinesIn(read(document)).map((line) => ({ document, line })));
  expect(lines.length).toBeGreaterThan(100);
  const unknown = lines.flatMap(({ document, line }) => {
    const word = unknownIn(line);
    return word === undefined ? [] : [`${document}: switchyard ${line}: ${word}`];
  });
  expect(unknown).toEqual([]);
});

test('what documents run by npm is in package.json', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const named = documents.flatMap((document) =>
    [...read(document).matchAll(/npm run (?:-s )?([a-z][a-z:-]*[a-z])/g)].map(([, script = '']) => ({ document, script })),
  );
  expect(named.filter(({ script }) => !(script in scripts))).toEqual([]);
});
