import { durationMs, type FlagTable, type Program, text, wholeNumber } from '../../shared/runtime/flags.ts';

/** What `npm run mutate` is asked for. */
export type MutationConfig = {
  readonly files: readonly string[];
  readonly line: number | undefined;
  readonly count: number;
  readonly seed: number;
  readonly parallel: number;
  readonly limitMs: number;
  readonly budgetMs: number;
  /** Writes the figures into docs/testing.md. */
  readonly record: boolean;
};

/** Seeds have 32 bits. */
const SEED_MAX = 2 ** 32 - 1;

const FLAGS = {
  files: {
    value: 'GLOB[;GLOB]',
    fallback: '{worker,manager,shared/kube}/**/!(main).ts',
    about: 'files to break, as patterns from the root of the project',
    parse: (given: string) => text(given).split(';'),
  },
  line: { value: 'N', about: 'break this line only; for one file, to try a new test', parse: wholeNumber(1) },
  count: { value: 'N', fallback: '50', about: 'how many mutants to try', parse: wholeNumber(1) },
  seed: {
    value: 'S',
    fallback: '1',
    about: 'chooses the mutants; the same seed chooses the same ones while the files are the same',
    parse: wholeNumber(0, SEED_MAX),
  },
  parallel: { value: 'N', fallback: '1', about: 'mutants tried at once', parse: wholeNumber(1, 64) },
  budget: {
    value: 'TIME',
    fallback: '10m',
    about:
      'longest time for the tests outside of its unit folder of a mutant that this folder does not notice; what they do not reach survives',
    parse: durationMs,
  },
  'time-limit': { value: 'TIME', fallback: '10m', about: 'longest time for the tests of the unit folder of a mutant', parse: durationMs },
  record: { about: 'write the figures, with date and seed, into the table of docs/testing.md' },
} satisfies FlagTable;

export const MUTATION_PROGRAM: Program<typeof FLAGS, MutationConfig> = {
  name: 'mutate',
  usage: 'npm run mutate --',
  about: `Breaks the code one place at a time, runs the tests of the broken file's unit folder, then all others that import the file, and prints
the mutants that no test notices. The files on disk stay as they are: programs that tests start run without the mutant. Exit code: 0 when
no mutant survived (those listed in test/mutation/equivalents.ts aside), 1 when one did, 2 when the study could not be made.`,
  flags: FLAGS,
  configOf: ({ budget: budgetMs, 'time-limit': limitMs, ...values }) => ({ ...values, budgetMs, limitMs }),
};
