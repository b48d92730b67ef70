import { FlagError, oneOf, type FlagTable, type FlagValues, type Program } from '../../../shared/runtime/flags.ts';

export type ImportConfig = {
  /** Names of files; `-` is standard input. */
  readonly files: readonly string[];
  /** Whether it fails when something is lost. */
  readonly strict: boolean;
  readonly output: 'yaml' | 'json';
};

const FLAGS = {
  output: { short: 'o', value: 'FORM', fallback: 'yaml', about: 'yaml, json: one List', parse: oneOf(['yaml', 'json'] as const) },
  strict: { about: 'end with exit status 1 when something is lost, after writing the rest' },
} satisfies FlagTable;

export const IMPORT_PROGRAM: Program<typeof FLAGS, ImportConfig> = {
  name: 'import-kueue',
  usage: 'npm run -s import-kueue --',
  about:
    'Reads Kueue’s objects (YAML, - is standard input) and writes Switchyard’s to standard output, and to standard error what is lost and what else you need to know.\n' +
    'Exit status: 0 done, 1 something cannot be read or, with --strict, is lost, 2 wrong flags.',
  flags: FLAGS,
  operands: 'FILE...',
  configOf,
};

function configOf({ strict, output }: FlagValues<typeof FLAGS>, files: readonly string[]): ImportConfig {
  if (files.length === 0) throw new FlagError('no file is named; write npm run import-kueue -- FILE..., or - for standard input');
  if (files.filter((file) => file === '-').length > 1) throw new FlagError('- is named twice; standard input can be read once');
  return { files, strict, output };
}
