import { type FlagTable, type FlagValues, text, wholeNumber } from '../../shared/runtime/flags.ts';

/** Where what admission sees and decides is written down. */
export const DECISION_LOG_FLAGS = {
  'decision-log': {
    value: 'FILE|-',
    about: 'writes down what admission sees and decides, to decide it again under another setup (switchyard replay); -: to standard output',
    parse: text,
  },
  'decision-log-max-size': {
    value: 'MIB',
    fallback: '100',
    about: 'a decision log of this size becomes FILE.1, the one before FILE.2, and so on',
    parse: wholeNumber(1, 65_536),
  },
  'decision-log-max-files': {
    value: 'N',
    fallback: '5',
    about: 'number of files of the decision log to keep, including the current one',
    parse: wholeNumber(1, 1_000),
  },
} satisfies FlagTable;

export type DecisionLogConfig = {
  /** A file, or `-` for standard output. */
  readonly destination: string;
  /** A file is followed by the next at about this size. */
  readonly fileBytesMax: number;
  /** How many files there are at most, the one that is written included: FILE, FILE.1 and so on, the oldest last. */
  readonly filesMax: number;
};

/** undefined: nowhere. */
export function decisionLogConfigOf(flags: FlagValues<typeof DECISION_LOG_FLAGS>): DecisionLogConfig | undefined {
  const destination = flags['decision-log'];
  if (destination === undefined) return undefined;
  return { destination, fileBytesMax: flags['decision-log-max-size'] * 1024 * 1024, filesMax: flags['decision-log-max-files'] };
}
