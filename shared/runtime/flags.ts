/** Flags of a program: a table says which there are, and each may be given as an environment variable, too. */
import { isRefusedByFetch } from './fetch-ports.ts';
import { parseAddress } from './http-server.ts';
import { durationShape, shaped, SWITCH, TEXT, type Parser, type ValueShape } from './value-shape.ts';

/** A flag with a value, or, without `value` and `parse`, a switch. */
export type Flag<T = unknown> = ValueFlag<T> | SwitchFlag;
export type ValueFlag<T> = {
  /** One letter, by which it is taken, too: `-n`. */
  readonly short?: string;
  /** What stands for the value in the help text, such as FILE. */
  readonly value: string;
  /** Taken when the flag is absent; without it the flag is then undefined. */
  readonly fallback?: string;
  readonly about: string;
  /** Throws {@link FlagError} saying what is wrong with the text and what to write instead. */
  readonly parse: Parser<T>;
};
/** `--leader-elect`, or `--leader-elect=true|false`; false when absent. */
export type SwitchFlag = { readonly short?: string; readonly about: string; readonly value?: never };

/** By name, without dashes. */
export type FlagTable = Readonly<Record<string, Flag>>;
export type FlagValues<Table extends FlagTable> = { readonly [Name in keyof Table]: ValueOf<Table[Name]> };
type ValueOf<F> = F extends { readonly parse: (text: string) => infer T }
  ? F extends { readonly fallback: string }
    ? T
    : T | undefined
  : boolean;

export type Program<Table extends FlagTable, Config> = {
  /** What complaints begin with: `switchyard-worker`. */
  readonly name: string;
  /** How it is called: `npm run worker --`. */
  readonly usage: string;
  /** One sentence. */
  readonly about: string;
  readonly flags: Table;
  /** What stands for the arguments that are no flags in the help text, such as FILE...; absent: there are none. */
  readonly operands?: string;
  /** Whether it takes `--config FILE`: what stands there counts where neither the flag nor its variable is given. */
  readonly readsConfigFile?: true;
  /** Makes the configuration. Throws {@link FlagError} for flags that do not go together. */
  readonly configOf: (values: FlagValues<Table>, operands: readonly string[]) => Config;
};

export type ParsedFlags<Config> =
  | { readonly kind: 'Run'; readonly config: Config }
  | { readonly kind: 'Help'; readonly text: string }
  /** `problem` is one line that names the flag and the remedy. The program prints it and exits with {@link EXIT_USAGE}. */
  | { readonly kind: 'Invalid'; readonly problem: string };

export const EXIT_USAGE = 2;

/** A flag that cannot be used: what is wrong, and what to write instead. */
export class FlagError extends Error {
  override readonly name = 'FlagError';
}

/** What its value looks like where it is no text. */
export const shapeOf = (flag: Flag): ValueShape => (flag.value === undefined ? SWITCH : (flag.parse.shape ?? TEXT));

/** The flag that names the configuration file, in programs that read one. */
export const CONFIG_FLAG = 'config';

/** The name of a flag as a key of a configuration file or of a chart: `kube-api-qps` is kubeApiQps. */
export const keyOf = (name: string): string => name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());

type Environment = Readonly<Record<string, string | undefined>>;

/** What a configuration file says: texts by the names of flags. */
export type Settings = { readonly file: string; readonly texts: ReadonlyMap<string, string> };
/** Throws {@link FlagError} that names the file, the key and the remedy. */
export type SettingsReader = (flags: FlagTable, file: string) => Settings;

/**
 * A flag wins over its variable, that over the configuration file, and that over the fallback. An empty variable, or an empty value of a
 * flag without a fallback, counts as absent.
 */
export function parseFlags<Table extends FlagTable, Config>(
  program: Program<Table, Config>,
  args: readonly string[],
  environment: Environment,
  readSettings?: SettingsReader,
): ParsedFlags<Config> {
  try {
    const read = readArguments(program, args);
    if (read === 'Help') return { kind: 'Help', text: helpText(program) };
    const file = program.readsConfigFile === undefined ? undefined : (read.given.get(CONFIG_FLAG) ?? environment[variableOf(CONFIG_FLAG)]);
    const settings = file === undefined || file === '' ? undefined : readSettings?.(program.flags, file);
    return { kind: 'Run', config: program.configOf(flagValues(program.flags, read.given, environment, settings), read.operands) };
  } catch (error) {
    if (error instanceof FlagError) return { kind: 'Invalid', problem: error.message };
    throw error;
  }
}

/** The variable that stands in for a flag: `kube-api-qps` is SWITCHYARD_KUBE_API_QPS. */
export const variableOf = (name: string): string => `SWITCHYARD_${name.toUpperCase().replaceAll('-', '_')}`;

/** `--name value`, `--name=value` and `--switch`, as Kubernetes programs take them; the last one counts. A lone dash is an operand. */
function readArguments(
  { flags, operands: takesOperands }: Pick<Program<FlagTable, unknown>, 'flags' | 'operands'>,
  args: readonly string[],
): { readonly given: ReadonlyMap<string, string>; readonly operands: readonly string[] } | 'Help' {
  const given = new Map<string, string>();
  const operands: string[] = [];
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === '--help' || arg === '-h') return 'Help';
    if (takesOperands !== undefined && (arg === '-' || !arg.startsWith('-'))) {
      operands.push(arg);
      continue;
    }
    const [, long, inline] = /^--([^=]+)(?:=([^]*))?$/.exec(arg) ?? [];
    const name = long ?? byLetter(flags, arg) ?? '';
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
    if (flag === undefined) throw new FlagError(`${arg.split('=')[0]} is no flag of this program; --help lists the flags`);
    if (inline !== undefined) given.set(name, inline);
    else if (flag.value === undefined) given.set(name, 'true');
    else given.set(name, nextValue(name, flag.value, rest));
  }
  return { given, operands };
}

const byLetter = (flags: FlagTable, arg: string): string | undefined =>
  Object.entries(flags).find(([, { short }]) => short !== undefined && arg === `-${short}`)?.[0];

function nextValue(name: string, placeholder: string, rest: string[]): string {
  const next = rest[0];
  if (next === undefined || next.startsWith('--')) throw new FlagError(`--${name} has no value; write --${name} ${placeholder}`);
  rest.shift();
  return next;
}

/**
 * What flags come to that were given by these names, as variables or in a file. Throws {@link FlagError} for the first that cannot be used.
 */
export function flagValues<Table extends FlagTable>(
  flags: Table,
  given: ReadonlyMap<string, string>,
  environment: Environment,
  settings?: Settings,
): FlagValues<Table> {
  const values = Object.entries(flags).map(([name, flag]) => [name, valueOf(flag, sourceOf(name, given, environment, settings))]);
  // Built name by name from the table that the type is derived from.
  return Object.fromEntries(values) as FlagValues<Table>;
}

type Source = { readonly text: string | undefined; readonly name: string };

/** Where the text of a flag comes from, and what a complaint about it begins with. */
function sourceOf(name: string, given: ReadonlyMap<string, string>, environment: Environment, settings: Settings | undefined): Source {
  const variable = environment[variableOf(name)];
  if (given.has(name)) return { text: given.get(name), name: `--${name}` };
  if (variable !== undefined && variable !== '') return { text: variable, name: `--${name} (from ${variableOf(name)})` };
  if (settings?.texts.has(name)) return { text: settings.texts.get(name), name: `${settings.file}: ${keyOf(name)}` };
  return { text: undefined, name: `--${name}` };
}

function valueOf(flag: Flag, { text: outside, name }: Source): unknown {
  try {
    if (flag.value === undefined) return outside === undefined ? false : truth(outside);
    if (flag.fallback !== undefined) return flag.parse(outside ?? flag.fallback);
    return outside === undefined || outside === '' ? undefined : flag.parse(outside);
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    throw new FlagError(`${name}: ${error.message}`, { cause: error });
  }
}

function helpText<Table extends FlagTable, Config>({ usage, about, flags, operands, readsConfigFile }: Program<Table, Config>): string {
  const lines = Object.entries<Flag>(flags).map(([name, flag]) => {
    const fallback = flag.value === undefined ? undefined : flag.fallback;
    const letter = flag.short === undefined ? '' : `-${flag.short}, `;
    const head = `${letter}--${name}${flag.value === undefined ? '' : ` ${flag.value}`}`;
    return `  ${head}\n      ${flag.about}${fallback === undefined || fallback === '' ? '' : ` (default ${fallback})`}`;
  });
  const first = Object.keys(flags)[0] ?? '';
  const variables = `Every flag can also be given as an environment variable: --${first} as ${variableOf(first)}.${readsConfigFile === undefined ? '' : ` In the file of --config it is the key ${keyOf(first)}.`}`;
  return `Usage: ${usage} [flags]${operands === undefined ? '' : ` ${operands}`}\n\n${about}\n${variables}\n\n${lines.join('\n')}\n  --help\n      print this\n`;
}

// Parsers of values. Each quotes what it was given, except `text`, which may be given secrets.

export const text = (given: string): string => {
  if (given === '') throw new FlagError('is empty; write a value, or leave the flag out');
  return given;
};

const WHOLE_NUMBER_MAX = 999_999_999;

/** A whole number from `least` to `most`. */
export const wholeNumber = (least: number, most = WHOLE_NUMBER_MAX): Parser<number> =>
  shaped({ type: 'integer', minimum: least, maximum: most }, (given) => {
    if (/^\d{1,15}$/.test(given) && Number(given) >= least && Number(given) <= most) return Number(given);
    const range = most === WHOLE_NUMBER_MAX ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new FlagError(`${JSON.stringify(given)} cannot be used; write a whole number ${range}`);
  });

/** Requests per second: a number from 0, which may have a fraction. */
export const rate: Parser<number> = shaped({ type: 'number', minimum: 0, maximum: WHOLE_NUMBER_MAX }, (given) => {
  if (/^\d{1,9}(\.\d{1,20})?(e-\d{1,2})?$/.test(given)) return Number(given);
  throw new FlagError(`${JSON.stringify(given)} cannot be used; write a number of at least 0`);
});

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `500ms`, `1s`, `2m` or `1h`, in milliseconds. */
export const durationMs: Parser<number> = shaped(durationShape(), (given) => {
  const [, amount, unit = ''] = /^(\d{1,9})(ms|s|m|h)$/.exec(given) ?? [];
  const unitMs = UNITS_MS[unit];
  if (unitMs === undefined) throw new FlagError(`${JSON.stringify(given)} is no duration; write 500ms, 1s or 2m`);
  return Number(amount) * unitMs;
});

/** Where to listen for HTTP: `127.0.0.1:8080`, `[::1]:8080` or `:8080`. */
export function bindAddress(given: string): string {
  httpPort(addressOf(given).port);
  return given;
}

/** Where to listen for HTTP: 0 takes any free port. */
export const listeningPort = (given: string): number => httpPort(wholeNumber(0, 65_535)(given));

function httpPort(port: number): number {
  if (!isRefusedByFetch(port)) return port;
  throw new FlagError(`port ${port} is one that browsers and fetch refuse to connect to; choose another, such as 8080`);
}

function addressOf(given: string): ReturnType<typeof parseAddress> {
  try {
    return parseAddress(given);
  } catch (error) {
    throw new FlagError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

export const oneOf = <T extends string>(choices: readonly T[]): Parser<T> =>
  shaped({ enum: choices }, (given) => {
    const choice = choices.find((each) => each === given);
    if (choice === undefined) throw new FlagError(`${JSON.stringify(given)} is unknown; choose from ${choices.join(', ')}`);
    return choice;
  });

/** The words between commas, without blanks around them; empty ones do not count. */
export const wordsOf = (given: string): readonly string[] => given.split(',').flatMap((each) => (each.trim() === '' ? [] : [each.trim()]));

/** Some of the choices, separated by commas; each counts once. */
export const listOf = <T extends string>(choices: readonly T[]): Parser<readonly T[]> =>
  shaped({ type: 'array', items: { enum: choices } }, (given) => [...new Set(wordsOf(given).map(oneOf(choices)))]);

const truth = (given: string): boolean => {
  if (given === 'true' || given === 'false') return given === 'true';
  throw new FlagError(`${JSON.stringify(given)} cannot be used; write true or false`);
};
