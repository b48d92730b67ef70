import { variableOf, type Flag } from '../../shared/runtime/flags.ts';
import type { Command } from './command.ts';
import { EXIT_CODES } from './exit-codes.ts';

/** docs/cli.md, of the same tables as the help and the parser. What several commands have in common stands there once. */
export function commandDocs(commands: readonly Command[]): string {
  const common = commonFlags(commands);
  const own = commands.filter((command) => originalOf(command, commands) === undefined);
  return `${[FIRST, index(commands), exitCodes(), flagsInCommon(common), ...own.map((command) => section(command, commands, common))].join('\n\n')}\n`;
}

const FIRST = `# The program \`switchyard\`

<!-- Written by scripts/generate-cli-docs.ts from the descriptions of the commands. -->

The package of a release has it as \`switchyard\` and \`kubectl switchyard\`, and krew installs it as a plugin of kubectl ([how](submitting.md)); it needs Node 22.19 or newer.
From a checkout: \`npm run -s switchyard -- COMMAND\`.
It reads the same kubeconfig as kubectl and works with your own rights. It uses colors on terminals only, and none if \`NO_COLOR\` is set.
Every flag can be given as an environment variable: \`--namespace\` as \`${variableOf('namespace')}\`; a flag wins.`;

const index = (commands: readonly Command[]): string =>
  `Commands: ${commands
    .map((command) => `[\`${command.words}\`](#${anchorOf((originalOf(command, commands) ?? command).words)})`)
    .join(', ')}.`;

const exitCodes = (): string =>
  ['Exit codes:', '', ...Object.entries(EXIT_CODES).map(([code, meaning]) => `- ${code}: ${meaning}`)].join('\n');

/** Rows of flags that at least two commands describe alike, by row, with the names of the flags. */
function commonFlags(commands: readonly Command[]): ReadonlyMap<string, string> {
  const counts = new Map<string, number>();
  const names = new Map<string, string>();
  for (const command of commands) {
    if (originalOf(command, commands) !== undefined) continue;
    for (const [name, flag] of Object.entries(command.flags)) {
      const row = rowOf(name, flag);
      counts.set(row, (counts.get(row) ?? 0) + 1);
      names.set(row, name);
    }
  }
  return new Map([...names].filter(([row]) => (counts.get(row) ?? 0) > 1));
}

const flagsInCommon = (common: ReadonlyMap<string, string>): string =>
  ['## Common flags', 'Each command lists those that it has.', [...common.keys()].join('\n')].join('\n\n');

/** The command of which this one is a shorter name: one before it with the same description. */
function originalOf(command: Command, commands: readonly Command[]): Command | undefined {
  const described = ({ summary, about, flags }: Command): string => JSON.stringify([summary, about, Object.keys(flags)]);
  const first = commands.find((each) => described(each) === described(command));
  return first === command ? undefined : first;
}

function section(command: Command, commands: readonly Command[], common: ReadonlyMap<string, string>): string {
  const { words, summary, about, operands, flags, examples, exitCodes: own } = command;
  const usage = ['switchyard', words, ...operands.map((operand) => operand.usage)].join(' ');
  const shorter = commands.filter((each) => originalOf(each, commands) === command).map((each) => `\`${each.words}\``);
  const rows = Object.entries(flags).map(([name, flag]) => rowOf(name, flag));
  const shared = rows.flatMap((row) => common.get(row) ?? []);
  const particular = [
    ...operands.map((operand) => `- \`${operand.usage}\`: ${oneLine(operand.about)}`),
    ...rows.filter((row) => !common.has(row)),
  ];
  return [
    `## ${words}`,
    `\`${usage}\`: ${summary}.${shorter.length === 0 ? '' : ` Shorter: ${shorter.join(', ')}.`}`,
    about.replaceAll('\n', ' '),
    ...(particular.length === 0 ? [] : [particular.join('\n')]),
    ...(shared.length === 0 ? [] : [`[Common flags](#common-flags): ${shared.map((name) => `\`--${name}\``).join(', ')}.`]),
    ...(Object.keys(own).length === 0
      ? []
      : [
          `Exit codes beside the common ones: ${Object.entries(own)
            .map(([code, meaning]) => `${code} ${meaning}`)
            .join(', ')}.`,
        ]),
    ...(examples.length === 0 ? [] : [['```', ...examples.map((example) => `switchyard ${example}`), '```'].join('\n')]),
  ].join('\n\n');
}

const rowOf = (name: string, flag: Flag): string => `- \`${headOf(name, flag)}\`: ${oneLine(aboutOf(flag))}`;

const headOf = (name: string, { short, value }: Flag): string =>
  `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;

const aboutOf = (flag: Flag): string =>
  'fallback' in flag && flag.fallback !== undefined && flag.fallback !== '' ? `${flag.about} (default ${flag.fallback})` : flag.about;

const anchorOf = (words: string): string => words.replaceAll(' ', '-');
const oneLine = (text: string): string => text.replaceAll('\n', ' ');
