/** The words of names: of files, and of what they export. manager/glossary.md explains those of the project; the rest are plain English. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readSources } from './support/source-files.ts';

const ROOT = path.dirname(import.meta.dirname);
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

/** Words that only the authors understood: the glossary has the field's words for these things. */
const FORMER_WORDS = [
  'told',
  'given',
  'settled',
  'crowd',
  'fates',
  'luck',
  'yard',
  'wagons',
  'teller',
  'door',
  'doors',
  'standstill',
  'outlook',
  'corrector',
  'creditor',
];

const glossary = wordsOf([...read('manager/glossary.md').matchAll(/^\| ([^|]+) \|/gm)].map(([, term = '']) => term).join(' '));
const plainEnglish = read('test/support/vocabulary.txt')
  .split('\n')
  .filter((line) => line !== '');

/** Names in camel case, kebab case or capitals, as their words. */
function wordsOf(name: string): string[] {
  return [...name.matchAll(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g)].map(([word]) => word.toLowerCase());
}

const namesIn = ({ name, code }: { readonly name: string; readonly code: string }): string[] => [
  name.slice(name.lastIndexOf('/') + 1).replace(/\.tsx?$/, ''),
  ...[...code.matchAll(/^export (?:async )?(?:const|function\*?|class|interface|type) (\w+)/gm)].map(([, exported = '']) => exported),
];

const used = new Map(
  readSources()
    .filter(({ name }) => /^(shared|worker|manager)\//.test(name))
    .flatMap((file) => namesIn(file).flatMap((name) => wordsOf(name).map((word) => [word, `${word}: ${name} in ${file.name}`] as const))),
);

test('each word of a name is plain English, or in the glossary', () => {
  const known = new Set([...glossary, ...plainEnglish]);
  expect([...used].filter(([word]) => !known.has(word)).map(([, where]) => where)).toEqual([]);
});

test('no name has a word that only its authors understood', () => {
  expect(FORMER_WORDS.flatMap((word) => used.get(word) ?? [])).toEqual([]);
});

test('the list of plain words has each word once, in order, and none that no name has', () => {
  expect(plainEnglish).toEqual([...new Set(plainEnglish)].toSorted());
  expect(plainEnglish.filter((word) => !used.has(word) || glossary.includes(word))).toEqual([]);
});
