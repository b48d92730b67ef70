import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { expect, test } from 'vitest';
import { CONFINED_COMMANDS, confinedScript } from '../../../../manager/submission/confined-scripts.ts';

const directory = path.join(path.dirname(createRequire(import.meta.url).resolve('bullmq')), '../esm/scripts');
/** Those of BullMQ's relay are for another kind of queue. */
const scripts = readdirSync(directory).filter((name) => name.endsWith('.js') && name !== 'index.js' && !name.startsWith('relay'));

test('every command of BullMQ’s scripts is known, with the place of its keys', () => {
  const known = new Set(Object.values(CONFINED_COMMANDS).flatMap((names) => names.split(' ')));
  const used = new Set(
    scripts.flatMap((name) =>
      [...readFileSync(path.join(directory, name), 'utf8').matchAll(/(?:call|rcall)\(\s*["']([A-Za-z]+)["']/g)].map(
        (match) => match[1] ?? '',
      ),
    ),
  );
  expect(used.size).toBeGreaterThan(40);
  expect([...used].filter((name) => !known.has(name)).toSorted()).toEqual([]);
});

test('a script reaches Redis by what it is given alone', () => {
  // Whatever stands in place of `redis` is not passed by: neither by a global of the server's, nor by the table of globals.
  for (const name of scripts)
    expect(readFileSync(path.join(directory, name), 'utf8'), name).not.toMatch(/\b(_G|getfenv|loadstring|server\.call)\b/);
  expect(confinedScript('return 1')).toMatch(/^local redis = [^]*\nreturn 1$/);
});
