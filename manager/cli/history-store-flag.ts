import { text, type FlagTable } from '../../shared/runtime/flags.ts';

/** Where the manager keeps history: the command reads it there. */
export const HISTORY_STORE_FLAG = {
  'history-store': {
    value: 'DIRECTORY|URL',
    about: 'where the manager keeps history, as its flag of that name has it: a directory, redis://... or s3://...',
    parse: text,
  },
} satisfies FlagTable;
