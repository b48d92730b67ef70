import { CommanderError } from 'commander';
import { describe, expect, test } from 'vitest';
import { command, type Command } from '../../../../manager/cli/command.ts';
import { COMMANDS } from '../../../../manager/cli/commands.ts';
import { commandTree, type Chosen } from '../../../../manager/cli/command-tree.ts';
import { oneOf, text, type FlagTable } from '../../../../shared/runtime/flags.ts';

const FLAGS = {
  namespace: { short: 'n', value: 'NAME', about: 'where', parse: text },
  'all-namespaces': { short: 'A', about: 'everywhere' },
  output: { short: 'o', value: 'FORM', fallback: 'text', about: 'how', parse: oneOf(['text', 'json']) },
} satisfies FlagTable;

const aCommand = (words: string, usages: readonly string[] = [], choices?: readonly string[]): Command =>
  command({
    words,
    summary: `does ${words}`,
    about: 'For a test.',
    operands: usages.map((usage) => ({ usage, about: 'what', ...(choices === undefined ? {} : { choices }) })),
    flags: FLAGS,
    examples: [`${words} it`],
    exitCodes: { 7: 'luck' },
    configOf: (values) => values,
    load: async () => async () => 0,
  });

function parse(
  commands: readonly Command[],
  line: string,
): { readonly chosen: Chosen | undefined; readonly said: string; readonly code: string } {
  const choices: Chosen[] = [];
  let said = '';
  const write = (piece: string): void => void (said += piece);
  const tree = commandTree(
    commands,
    { name: 'switchyard', version: '1.2.3', width: 80, write, complain: write },
    (choice) => void choices.push(choice),
  );
  try {
    tree.parse(
      line.split(' ').filter((word) => word !== ''),
      { from: 'user' },
    );
    return { chosen: choices[0], said, code: '' };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { chosen: choices[0], said, code: error.code };
  }
}

const ALL = [
  aCommand('get', ['<KIND>', '[NAME...]'], ['jobs', 'queues']),
  aCommand('clusters'),
  aCommand('clusters join', ['<CONTEXT>']),
  aCommand('import kueue', ['<FILE...>']),
];

describe('a command line', () => {
  test.each([
    ['clusters', 'clusters', [], {}],
    ['clusters join eu', 'clusters join', ['eu'], {}],
    ['import kueue a.yaml -', 'import kueue', ['a.yaml', '-'], {}],
    ['clusters -A -n team', 'clusters', [], { 'all-namespaces': 'true', namespace: 'team' }],
    ['clusters join eu --namespace=team -ojson', 'clusters join', ['eu'], { namespace: 'team', output: 'json' }],
    ['import kueue -- --odd', 'import kueue', ['--odd'], {}],
  ])('%s', (line, words, operands, given) => {
    const { chosen } = parse(ALL, line);
    expect(chosen).toMatchObject({ command: { words }, operands });
    expect(Object.fromEntries(chosen?.given ?? [])).toEqual(given);
  });

  test.each([
    ['', 'commander.help'],
    ['gt', 'commander.unknownCommand'],
    ['import', 'commander.help'],
    ['clusters jion', 'commander.excessArguments'],
    ['clusters join', 'commander.missingArgument'],
    ['clusters join eu us', 'commander.excessArguments'],
    ['clusters join eu --bogus', 'commander.unknownOption'],
    ['clusters join eu --namespace', 'commander.optionMissingArgument'],
    ['get pods', 'commander.invalidArgument'],
    ['--version', 'commander.version'],
  ])('that chooses nothing: %s', (line, code) => {
    expect(parse(ALL, line)).toMatchObject({ chosen: undefined, code });
  });
});

test('help fits 80 columns, and has flags, defaults, examples and exit codes', () => {
  for (const line of ['--help', 'clusters join --help', 'clusters --help', 'import --help']) {
    const { said, code } = parse(ALL, line);
    expect(code).toBe('commander.helpDisplayed');
    expect(said.split('\n').filter((each) => each.length > 80)).toEqual([]);
  }
  const { said } = parse(ALL, 'clusters join --help');
  expect(said).toContain('-o, --output <FORM>     how (default: text)');
  expect(said).toContain('  switchyard clusters join it\n');
  expect(said).toContain('7  luck');
});

/** The column of explanations is no wider: a word that is cannot be broken without being another. */
const UNBREAKABLE = /\S{45}/;

test('so does that of every command of the program, with its examples', () => {
  for (const { words } of COMMANDS) {
    const { said, code } = parse(COMMANDS, `${words} --help`);
    expect(code, words).toBe('commander.helpDisplayed');
    expect(
      said.split('\n').filter((line) => line.length > 80 && !UNBREAKABLE.test(line)),
      words,
    ).toEqual([]);
  }
});

test('every command has a form for programs', () => {
  const without = COMMANDS.filter(({ flags }) => {
    const output = (flags as FlagTable)['output'];
    return output?.value === undefined || output.short !== 'o' || output.parse('json') !== 'json';
  });
  expect(without.map(({ words }) => words)).toEqual([]);
});
