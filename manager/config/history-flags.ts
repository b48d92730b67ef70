import { durationMs, FlagError, text, wholeNumber, type FlagTable, type FlagValues } from '../../shared/runtime/flags.ts';
import { parseStoreAddress, type StoreAddress } from '../history/store-address.ts';

/** Where and for how long it is kept what became of Jobs. */
export const HISTORY_FLAGS = {
  'history-store': {
    value: 'DIRECTORY|URL',
    about:
      'keeps what became of Jobs, exit codes and the ends of logs (docs/logs.md): a directory, redis://... or s3://BUCKET/PREFIX?endpoint=URL&region=NAME; without it nothing is kept',
    parse: storeAddress,
  },
  'history-max-age': { value: 'DURATION', fallback: '720h', about: 'for how long after a Job has ended', parse: durationMs },
  'history-max-size': {
    value: 'MIB',
    fallback: '1024',
    about: 'how much in all; beyond that the Jobs that ended first go, of the namespaces that keep more than their share',
    parse: wholeNumber(1, 10_000_000),
  },
} satisfies FlagTable;

export type HistoryConfig = { readonly store: StoreAddress; readonly limits: { readonly ageMs: number; readonly bytesMax: number } };

/** undefined: none is kept. */
export function historyConfigOf(flags: FlagValues<typeof HISTORY_FLAGS>): HistoryConfig | undefined {
  const store = flags['history-store'];
  const limits = { ageMs: flags['history-max-age'], bytesMax: flags['history-max-size'] * 1024 * 1024 };
  return store && { store, limits };
}

function storeAddress(given: string): StoreAddress {
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
