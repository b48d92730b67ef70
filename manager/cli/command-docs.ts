import { variableOf, type Flag } from '../../shared/runtime/flags.ts';
import type { Command } from './command.ts';
import { EXIT_CODES } from './exit-codes.ts';

/** docs/cli.md, of the same tables as the help and the parser. */
export function commandDocs(commands: readonly Command[]): string {
  return `${[FIRST, table(commands), exitCodes(), ...commands.map(section)].join('\n\n')}\n`;
}

const FIRST = `# The program \`switchyard\`

<!-- Written by scripts/generate-cli-docs.ts from the descriptions of the commands. -->

The package of a release has it as \`switchyard\` and \`kubectl switchyard\`, and krew installs it as a plugin of kubectl; it needs Node 22.19 or newer
([how to install it](submitting.md)). From a checkout: \`npm run -s switchyard -- COMMAND\`.
It reads the same kubeconfig as kubectl, works with your own rights, and never prints control characters that an object contains.
It uses colours on terminals only, and none if \`NO_COLOR\` is set. Every flag can also be given as an environment variable: \`--namespace\` as \`SWITCHYARD_NAMESPACE\`; a flag wins.`;

const table = (commands: readonly Command[]): string =>
  [
    '| command | |',
    '| --- | --- |',
    ...commands.map(({ words, summary }) => `| [\`${words}\`](#${anchorOf(words)}) | ${cell(summary)} |`),
  ].join('\n');

const exitCodes = (): string =>
  ['| exit code | means |', '| --- | --- |', ...Object.entries(EXIT_CODES).map(([code, meaning]) => `| ${code} | ${cell(meaning)} |`)].join(
    '\n',
  );

function section({ words, summary, about, operands, flags, examples, exitCodes: own }: Command): string {
  const usage = ['switchyard', words, ...operands.map((operand) => operand.usage)].join(' ');
  return [
    `## ${words}`,
    `\`${usage}\`: ${summary}.`,
    about.replaceAll('\n', ' '),
    ...(operands.length === 0 && Object.keys(flags).length === 0
      ? []
      : [
          [
            '| | | variable |',
            '| --- | --- | --- |',
            ...operands.map((operand) => `| \`${operand.usage}\` | ${cell(operand.about)} | |`),
            ...Object.entries(flags).map(
              ([name, flag]) => `| \`${headOf(name, flag)}\` | ${cell(aboutOf(flag))} | \`${variableOf(name)}\` |`,
            ),
          ].join('\n'),
        ]),
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

const headOf = (name: string, { short, value }: Flag): string =>
  `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;

const aboutOf = (flag: Flag): string =>
  'fallback' in flag && flag.fallback !== undefined && flag.fallback !== '' ? `${flag.about} (default ${flag.fallback})` : flag.about;

const anchorOf = (words: string): string => words.replaceAll(' ', '-');
const cell = (text: string): string => text.replaceAll('\n', ' ').replaceAll('|', '\\|');
