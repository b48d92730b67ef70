/**
 * Goal: the protocol by which at most one copy of a Job runs has no way around that, and no way into a dead end (docs/protocol.md). Method:
 * a model of it, which Spin searches exhaustively (`npm run model`, minutes); each defect that is put back has to be found. Without Spin
 * what can be told from the files alone.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isSlow } from '../support/slow.ts';
import { MODEL_DEFECTS, SEARCHES } from './defects.ts';
import { compileModel, foundIn, lacksSpin, type Checker } from './spin.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const [MODEL, DOCUMENT] = [read('test/model/one-copy.pml'), read('test/model/README.md')];
const STEPS = new Set([...MODEL.matchAll(/step\("([^"]+)"/g)].map(([, name = '']) => name));
const SEARCH_MS = 1_800_000;

test('each step of the model stands in the document, and the document names no other', () => {
  const part = DOCUMENT.slice(DOCUMENT.indexOf('## Which function carries out which step'));
  const mapped = [...part.matchAll(/^\| ([^|`]+) \| `/gm)].flatMap(([, names = '']) => names.split(', '));
  const others = part.slice(part.indexOf('By others than these programs:'));
  const unmapped = [...STEPS].filter((name) => !mapped.includes(name) && !new RegExp(`\\b${name}\\b`).test(others));
  expect([unmapped, mapped.filter((name) => !STEPS.has(name))]).toEqual([[], []]);
});

test('each function that the document names is in its file', () => {
  const named = [...DOCUMENT.matchAll(/^\| [^|]+ \| `([^`]+)` · `([^`]+)` \|$/gm)];
  expect(named.length).toBeGreaterThan(15);
  const missing = named.filter(([, file = '', name]) => !new RegExp(`export (async )?(function|const|class) ${name}\\b`).test(read(file)));
  expect(missing.map(([row]) => row)).toEqual([]);
});

test('each defect of the model has its number, and its row in the document', () => {
  const numbers = [...MODEL.matchAll(/^#define ([A-Z0-9_]+) (\d+)$/gm)].filter(([, name = '']) => MODEL.includes(`HAS(${name})`));
  expect(numbers.map(([, name, number]) => `${name} ${number}`)).toEqual(MODEL_DEFECTS.map(({ name }, at) => `${name} ${at + 1}`));
  expect(MODEL_DEFECTS.filter(({ name }) => !DOCUMENT.includes(`| \`${name}\` |`))).toEqual([]);
});

test('a search that was cut short is none', () => {
  expect(foundIn('State-vector 116 byte, depth reached 61, errors: 0\n    59373 states, stored')).toMatchObject({
    states: 59_373,
    steps: undefined,
  });
  expect(foundIn('pan:1: assertion violated 0 (at depth 31)\nerrors: 1\n 12 states, stored')).toMatchObject({ states: 12, steps: 31 });
  expect(() => foundIn('Warning: Search not completed\nerrors: 0\n 12 states, stored')).toThrow(/has not come to its end/);
  expect(() => foundIn('sh: pan: not found')).toThrow(/has not come to its end/);
});

const lacking = isSlow ? lacksSpin() : 'only npm run model and npm run test:operations search the model';
if (lacking !== undefined) console.log(lacking);

describe.skipIf(lacking !== undefined)('Spin', () => {
  let checker: Checker;
  beforeAll(() => {
    checker = compileModel();
  }, SEARCH_MS);
  afterAll(() => checker.remove());

  test.each(SEARCHES)(
    'finds no promise broken: $name',
    ({ settings }) => {
      const found = checker.searchAll(settings);
      expect(found.steps, found.said).toBeUndefined();
      console.log(`${found.states} states`);
    },
    SEARCH_MS,
  );

  test.each(MODEL_DEFECTS.map((defect, at) => ({ ...defect, number: at + 1 })))(
    'finds $name',
    ({ name, number, settings }) => {
      const found = checker.findShortest({ FAULTS: 0, STOPS: 1, ...settings, PUT_BACK: number });
      expect(found.steps, found.said).toBeDefined();
      console.log(`${name}: ${found.steps} steps, ${found.states} states`);
    },
    SEARCH_MS,
  );
});
