import { Argument, Command as Node, Help, Option } from 'commander';
import type { Flag } from '../../shared/runtime/flags.ts';
import type { Command } from './command.ts';
import { EXIT_CODES } from './exit-codes.ts';

/** What a command line asks for: one of the commands, with flags and operands as they were typed. */
export type Chosen = { readonly command: Command; readonly given: ReadonlyMap<string, string>; readonly operands: readonly string[] };

export type TreeOptions = {
  /** What the user calls the program: `switchyard`, or `kubectl switchyard`. */
  readonly name: string;
  readonly version: string;
  readonly width: number;
  readonly write: (text: string) => void;
  readonly complain: (text: string) => void;
};

/** `about` of the groups of commands: their first words. */
const GROUPS: Readonly<Record<string, string>> = {
  import: 'take over what was set up for another system',
  kinds: 'kinds of work beside Job: what their descriptions understand',
  clusters: 'worker clusters: which there are, and what they take',
};

const FIRST_WORDS = 'Runs Kubernetes Jobs over many clusters: what waits, what runs where, and what to do about it.';
const LAST_WORDS = `
Every flag can also be given as an environment variable: --namespace as
SWITCHYARD_NAMESPACE. Exit codes:
${Object.entries(EXIT_CODES)
  .map(([code, meaning]) => `  ${code.padEnd(5)}${meaning}`)
  .join('\n')}`;

/**
 * The commands as the library wants them. What it makes of a command line is handed to `chosen` and to nobody else. Its own ends (help,
 * version, what cannot be parsed) are thrown as CommanderError.
 */
export function commandTree(commands: readonly Command[], options: TreeOptions, chosen: (choice: Chosen) => void): Node {
  const root = new Node(options.name).description(FIRST_WORDS).version(options.version, '-V, --version', 'print the version');
  settled(root, options).addHelpText('after', LAST_WORDS);
  const groups = new Map<string, Node>([['', root]]);
  const groupOf = (words: readonly string[]): Node => {
    const key = words.join(' ');
    const known = groups.get(key);
    if (known !== undefined) return known;
    const name = words.at(-1) ?? '';
    const group = settled(new Node(name).description(GROUPS[key] ?? ''), options);
    groupOf(words.slice(0, -1)).addCommand(group);
    groups.set(key, group);
    return group;
  };
  for (const command of commands) {
    const words = command.words.split(' ');
    // A command may have others below it: `clusters` lists them, `clusters join` adds one.
    const node = filled(groups.get(command.words) ?? settled(new Node(words.at(-1) ?? ''), options), command, options.name);
    node.action(() => chosen({ command, given: givenTo(node, command), operands: node.args }));
    if (groups.has(command.words)) continue;
    groupOf(words.slice(0, -1)).addCommand(node);
    groups.set(command.words, node);
  }
  return root;
}

/** A column for what is explained, so wide that all but the longest fit; those stand by themselves above their explanation. */
const TERMS_WIDTH_MAX = 32;
const PLAIN_HELP = new Help();
const HELP: Partial<Help> = {
  padWidth: (node, helper) => Math.min(TERMS_WIDTH_MAX, PLAIN_HELP.padWidth(node, helper)),
  formatItem(term, termWidth, description, helper) {
    const item = (head: string): string => PLAIN_HELP.formatItem.call(helper, head, termWidth, description, helper);
    return description === '' || helper.displayWidth(term) <= termWidth ? item(term) : `  ${term}\n${item('')}`;
  },
};

function settled(node: Node, { write, complain, width }: TreeOptions): Node {
  return (
    node
      .exitOverride()
      // What follows a subcommand is its own, also where its parent has a flag of that name.
      .enablePositionalOptions()
      .helpCommand(false)
      .configureHelp(HELP)
      .helpOption('-h, --help', 'print this')
      .configureOutput({
        writeOut: write,
        writeErr: complain,
        getOutHelpWidth: () => width,
        getErrHelpWidth: () => width,
        outputError: () => undefined,
      })
      .allowExcessArguments(false)
  );
}

function filled(node: Node, command: Command, program: string): Node {
  node.summary(command.summary).description(`${capital(command.summary)}.\n\n${command.about.replaceAll('\n', ' ')}`);
  for (const { usage, about, choices } of command.operands) {
    const argument = new Argument(usage, about);
    node.addArgument(choices === undefined ? argument : argument.choices(choices));
  }
  for (const [name, flag] of Object.entries(command.flags)) node.addOption(optionOf(name, flag));
  const more = [
    ...(command.examples.length === 0 ? [] : ['', 'Examples:', ...command.examples.map((example) => `  ${program} ${example}`)]),
    ...Object.entries(command.exitCodes).map(
      ([code, meaning], index) => `${index === 0 ? '\nExit codes beside those of all commands:\n' : ''}  ${code}  ${meaning}`,
    ),
  ];
  if (more.length > 0) node.addHelpText('after', more.join('\n'));
  return node;
}

function optionOf(name: string, { short, value, about, ...flag }: Flag): Option {
  const head = `${short === undefined ? '' : `-${short}, `}--${name}`;
  const fallback = 'fallback' in flag && flag.fallback !== undefined && flag.fallback !== '' ? ` (default: ${flag.fallback})` : '';
  return new Option(value === undefined ? head : `${head} <${value}>`, `${about}${fallback}`);
}

/** By the names of the table. The library knows them in camel case. */
function givenTo(node: Node, { flags }: Command): ReadonlyMap<string, string> {
  const values: Readonly<Record<string, unknown>> = node.opts();
  return new Map(
    Object.keys(flags).flatMap((name) => {
      const value = values[new Option(`--${name}`).attributeName()];
      return value === undefined ? [] : [[name, String(value)] as const];
    }),
  );
}

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
