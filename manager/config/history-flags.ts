import { durationMs, FlagError, text, wholeNumber, type FlagTable, type FlagValues } from '../../shared/runtime/flags.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { parseStoreAddress, type StoreAddress } from '../history/store-address.ts';

/** Where and for how long it is kept what became of Jobs. */
export const HISTORY_FLAGS = {
  'history-store': {
    value: 'DIRECTORY|URL',
    about:
      'keeps what became of Jobs, exit codes and the ends of logs (docs/logs.md): a directory, redis://... or s3://BUCKET/PREFIX?endpoint=URL&region=NAME; without it nothing is kept',
    parse: storeAddress,
  },
  'history-store-file': {
    value: 'FILE',
    about: 'file whose one line is that URL, instead of --history-store: a password in it is then in no environment; read at start',
    parse: text,
  },
  'history-credentials-directory': {
    value: 'DIRECTORY',
    about:
      'directory with the files AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, such as a mounted Secret, for s3://; default: the variables of these names; read at start',
    parse: text,
  },
  'history-max-age': { value: 'DURATION', fallback: '720h', about: 'for how long after a Job has ended', parse: durationMs },
  'history-max-size': {
    value: 'MIB',
    fallback: '1024',
    about: 'how much in all; beyond that the Jobs that ended first go, of the namespaces that keep more than their share',
    parse: wholeNumber(1, 10_000_000),
  },
} satisfies FlagTable;

export type HistoryConfig = {
  readonly store: StoreAddress | { readonly kind: 'File'; readonly path: string };
  /** Absent: the keys are in the environment. */
  readonly credentialsDirectory?: string;
  readonly limits: { readonly ageMs: number; readonly bytesMax: number };
};

/** undefined: none is kept. Throws a {@link FlagError} for flags that contradict one another. */
export function historyConfigOf(flags: FlagValues<typeof HISTORY_FLAGS>): HistoryConfig | undefined {
  const { 'history-store': address, 'history-store-file': file, 'history-credentials-directory': credentialsDirectory } = flags;
  if (address !== undefined && file !== undefined)
    throw new FlagError(
      '--history-store and --history-store-file exclude one another, as variables (SWITCHYARD_HISTORY_STORE), too: give one of them',
    );
  const store = file === undefined ? address : ({ kind: 'File', path: file } as const);
  if (credentialsDirectory !== undefined && (store === undefined || store.kind === 'Directory' || store.kind === 'Redis'))
    throw new FlagError('--history-credentials-directory needs --history-store or --history-store-file with a URL s3://...');
  const limits = { ageMs: flags['history-max-age'], bytesMax: flags['history-max-size'] * 1024 * 1024 };
  return store && { store, limits, ...omitUndefined({ credentialsDirectory }) };
}

/** Throws a {@link FlagError} that quotes nothing. */
export function storeAddress(given: string): StoreAddress {
  try {
    return parseStoreAddress(text(given));
  } catch (error) {
    // It may hold a password, so it is not quoted.
    throw new FlagError(
      `${error instanceof Error ? error.message : String(error)}; write a directory, or a URL such as s3://jobs/history`,
      {
        cause: error,
      },
    );
  }
}
