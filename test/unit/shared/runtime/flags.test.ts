import { describe, expect, test } from 'vitest';
import {
  bindAddress,
  durationMs,
  FlagError,
  listeningPort,
  listOf,
  oneOf,
  parseFlags,
  rate,
  text,
  wholeNumber,
  type Program,
} from '../../../../shared/runtime/flags.ts';

const FLAGS = {
  file: { value: 'FILE', about: 'a file', parse: text },
  'worker-count': { value: 'N', fallback: '3', about: 'how many', parse: wholeNumber(1, 9) },
  'leader-elect': { about: 'one leads' },
  'log-level': { short: 'l', value: 'LEVEL', fallback: 'info', about: 'how much', parse: oneOf(['info', 'debug']) },
} as const;
const PROGRAM = {
  name: 'it',
  usage: 'npm run it --',
  about: 'Does it.',
  flags: FLAGS,
  configOf: (flags: { file: string | undefined; 'worker-count': number; 'leader-elect': boolean; 'log-level': 'info' | 'debug' }) => {
    if (flags.file === 'leader' && !flags['leader-elect']) throw new FlagError('--file=leader needs --leader-elect');
    return flags;
  },
} satisfies Program<typeof FLAGS, unknown>;

const read = (args: string[], environment: Record<string, string> = {}) => {
  const parsed = parseFlags(PROGRAM, args, environment);
  if (parsed.kind !== 'Run') throw new Error(JSON.stringify(parsed));
  return parsed.config;
};
const problem = (args: string[], environment: Record<string, string> = {}): string => {
  const parsed = parseFlags(PROGRAM, args, environment);
  return parsed.kind === 'Invalid' ? parsed.problem : parsed.kind;
};

describe('values', () => {
  test('absent flags have their fallback, or are undefined; absent switches are off', () => {
    expect(read([])).toEqual({ file: undefined, 'worker-count': 3, 'leader-elect': false, 'log-level': 'info' });
  });

  test('a value follows the flag, or an equals sign; the last one counts', () => {
    expect(read(['--file', 'a', '--worker-count=5', '--worker-count', '6'])).toMatchObject({ file: 'a', 'worker-count': 6 });
    expect(read(['--file=a=b'])).toMatchObject({ file: 'a=b' });
  });

  test('a negative number after a flag is its value, so that the complaint is about the number', () => {
    expect(problem(['--worker-count', '-1'])).toBe('--worker-count: "-1" cannot be used; write a whole number from 1 to 9');
  });

  test.each([
    [['--leader-elect'], true],
    [['--leader-elect=true'], true],
    [['--leader-elect=false'], false],
    [['--leader-elect', '--leader-elect=false'], false],
  ])('the switch %j is %s', (args, value) => {
    expect(read(args)).toMatchObject({ 'leader-elect': value });
  });

  test('a flag outranks its variable, which outranks the fallback', () => {
    const environment = { SWITCHYARD_WORKER_COUNT: '5', SWITCHYARD_LEADER_ELECT: 'true', SWITCHYARD_FILE: 'a' };
    expect(read(['--file=b', '--leader-elect=false'], environment)).toMatchObject({ file: 'b', 'worker-count': 5, 'leader-elect': false });
  });

  test('an empty variable, and an empty value of a flag without a fallback, count as absent', () => {
    expect(read(['--file='], { SWITCHYARD_WORKER_COUNT: '', SWITCHYARD_LEADER_ELECT: '' })).toEqual(read([]));
  });
});

describe('complaints', () => {
  test.each([
    [['--bogus', '5'], '--bogus is no flag of this program; --help lists the flags'],
    [['--bogus=5'], '--bogus is no flag of this program; --help lists the flags'],
    [['--constructor'], '--constructor is no flag of this program; --help lists the flags'],
    [['-x'], '-x is no flag of this program; --help lists the flags'],
    [['word'], 'word is no flag of this program; --help lists the flags'],
    [['--leader-elect', 'true'], 'true is no flag of this program; --help lists the flags'],
    [['--file'], '--file has no value; write --file FILE'],
    [['--file', '--leader-elect'], '--file has no value; write --file FILE'],
    [['--leader-elect=maybe'], '--leader-elect: "maybe" cannot be used; write true or false'],
    [['--leader-elect='], '--leader-elect: "" cannot be used; write true or false'],
    [['--worker-count='], '--worker-count: "" cannot be used; write a whole number from 1 to 9'],
    [['--log-level', 'a\nb'], '--log-level: "a\\nb" is unknown; choose from info, debug'],
    [['--file', 'leader'], '--file=leader needs --leader-elect'],
  ])('%j', (args, complaint) => {
    expect(problem(args)).toBe(complaint);
  });

  test('a variable that cannot be used is named', () => {
    expect(problem([], { SWITCHYARD_WORKER_COUNT: 'x' })).toBe(
      '--worker-count (from SWITCHYARD_WORKER_COUNT): "x" cannot be used; write a whole number from 1 to 9',
    );
  });

  test('a mistake in the program is no complaint', () => {
    const configOf = (): never => {
      throw new TypeError('a mistake');
    };
    expect(() => parseFlags({ ...PROGRAM, configOf }, [], {})).toThrow(TypeError);
  });
});

test('a flag with a letter is taken by that, too', () => {
  expect(read(['-l', 'debug'])['log-level']).toBe('debug');
  expect(problem(['-l'])).toContain('--log-level has no value');
  expect(problem(['-x'])).toContain('-x is no flag of this program');
});

test.each([['--help'], ['-h']])('%s, wherever it stands, tells every flag with its fallback', (help) => {
  expect(parseFlags(PROGRAM, ['--worker-count', '5', help], {})).toEqual({
    kind: 'Help',
    text: `Usage: npm run it -- [flags]

Does it.
Every flag can also be given as an environment variable: --file as SWITCHYARD_FILE.

  --file FILE
      a file
  --worker-count N
      how many (default 3)
  --leader-elect
      one leads
  -l, --log-level LEVEL
      how much (default info)
  --help
      print this
`,
  });
});

describe('parsers', () => {
  test('read what they are meant for', () => {
    expect(['500ms', '1s', '2m', '1h'].map(durationMs)).toEqual([500, 1000, 120_000, 3_600_000]);
    expect(['0', '1.5', '100'].map(rate)).toEqual([0, 1.5, 100]);
    expect(listOf(['a', 'b'])(' b, a,b,')).toEqual(['b', 'a']);
    expect(bindAddress('[::1]:80')).toBe('[::1]:80');
    expect(['0', '8080'].map(listeningPort)).toEqual([0, 8080]);
  });

  test.each([
    ['a duration without a unit', () => durationMs('1')],
    ['a negative rate', () => rate('-1')],
    ['a number in words', () => rate('1e6')],
    ['a fraction where a whole number is wanted', () => wholeNumber(0)('1.5')],
    ['a choice that is none', () => listOf(['a'])('a,c')],
    ['an address without a port', () => bindAddress('here')],
    ['a port that fetch refuses', () => bindAddress('127.0.0.1:6000')],
    ['a port that fetch refuses, alone', () => listeningPort('10080')],
    ['a port beyond the last', () => listeningPort('65536')],
    ['no text', () => text('')],
  ])('refuse %s', (_what, parse) => {
    expect(parse).toThrow(FlagError);
  });
});

describe('operands', () => {
  const program = {
    ...PROGRAM,
    operands: 'FILE...',
    configOf: (flags: { readonly 'leader-elect': boolean }, operands: readonly string[]) => ({ elect: flags['leader-elect'], operands }),
  } satisfies Program<typeof FLAGS, unknown>;
  const parse = (...args: string[]) => parseFlags(program, args, {});

  test('are what is neither a flag nor its value, a lone dash included, wherever they stand', () => {
    expect(parse('a.yaml', '--leader-elect', '-', '--file', 'x', 'b')).toEqual({
      kind: 'Run',
      config: { elect: true, operands: ['a.yaml', '-', 'b'] },
    });
    expect(parse('-x')).toEqual({ kind: 'Invalid', problem: '-x is no flag of this program; --help lists the flags' });
  });

  test('are in the help text, and refused by programs that take none', () => {
    expect(parse('--help')).toMatchObject({ text: expect.stringContaining('Usage: npm run it -- [flags] FILE...') });
    expect(problem(['a.yaml'])).toBe('a.yaml is no flag of this program; --help lists the flags');
  });
});
