/** The tests of one mutant: its file is changed in memory on its way to the test, the files on disk stay as they are. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { mutate } from './mutants.ts';
import type { RunOrder } from './run-tests.ts';

const order = JSON.parse(readFileSync(process.env['SWITCHYARD_MUTANT_RUN'] ?? '', 'utf8')) as RunOrder;
const { root, mutant, tests, loadedFile } = order;
const rank = new Map(tests.map((test, position) => [path.join(root, test), position]));

const isBroken = (id: string): boolean => mutant !== undefined && id.split('?')[0] === path.join(root, mutant.file);

/** In the order that was asked for: the fastest first. */
class AsAsked {
  async sort<T extends { readonly moduleId: string }>(files: T[]): Promise<T[]> {
    return files.toSorted((a, b) => (rank.get(a.moduleId) ?? 0) - (rank.get(b.moduleId) ?? 0));
  }
  async shard<T>(files: T[]): Promise<T[]> {
    return files;
  }
}

export default defineConfig({
  root,
  plugins: [
    {
      name: 'mutant',
      enforce: 'pre',
      // vitest keeps transformed files on disk, by what they say there: what this one says here must not get in, nor be answered from it.
      configureVitest: ({ defineCacheKeyGenerator }) => defineCacheKeyGenerator(({ id }) => (isBroken(id) ? false : undefined)),
      load(id) {
        if (mutant === undefined || !isBroken(id)) return undefined;
        writeFileSync(loadedFile, '');
        return mutate(readFileSync(path.join(root, mutant.file), 'utf8'), mutant);
      },
    },
  ],
  test: {
    pool: 'forks',
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 40_000 } },
    bail: 1,
    cache: false,
    // One process for all files, one after the other: the first failure ends it, and modules are loaded once.
    isolate: false,
    maxWorkers: 1,
    // A mutant that never stops allocating is to die of it, and soon.
    execArgv: ['--max-old-space-size=1500'],
    sequence: { sequencer: AsAsked },
  },
});
