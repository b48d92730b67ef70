/** The program `switchyard` but for the process that it runs in: chooses a command of commands.ts and runs it. */
import { CommanderError } from 'commander';
import { FlagError } from '../../shared/runtime/flags.ts';
import packageFile from '../../package.json' with { type: 'json' };
import { CommandError } from './command-error.ts';
import { commandTree, type Chosen } from './command-tree.ts';
import { COMMANDS } from './commands.ts';
import { complaintOf } from './complaint.ts';
import { COMPLETE_WORD } from './completion/scripts.ts';
import { ExitCode } from './exit-codes.ts';
import { plain } from './plain-text.ts';
import type { Session } from './session.ts';

/** Runs a command line; `name` is what the user calls the program. Resolves with the exit code. */
export async function runSwitchyard(args: readonly string[], name: string, session: Session): Promise<number> {
  if (args[0] === COMPLETE_WORD) {
    const { complete } = await import('./completion/complete.ts');
    await complete(COMMANDS, args.slice(1), session);
    return ExitCode.Done;
  }
  const said: string[] = [];
  const choices: Chosen[] = [];
  const tree = commandTree(
    COMMANDS,
    {
      name,
      version: packageFile.version,
      width: Math.min(session.output.isTerminal ? session.output.width : 80, 100),
      write: (text) => void said.push(text),
      complain: (text) => void said.push(text),
    },
    (choice) => void choices.push(choice),
  );
  try {
    tree.parse([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Without a command, help is what was asked for, though nothing was done.
    if (error.code === 'commander.help') return failed(said.join(''), ExitCode.Usage);
    const called = calledBy(args, name);
    if (error.exitCode !== 0) return failed(`${called}: ${plain(complaintOf(error.message, called))}\n`, ExitCode.Usage);
    await session.output.write(said.join(''));
    return ExitCode.Done;
  }
  const [chosen] = choices;
  if (chosen === undefined) throw new Error('no command was chosen, and nothing was said about it');
  const called = `${name} ${chosen.command.words}`;
  try {
    return await chosen.command.run(chosen.given, chosen.operands, session);
  } catch (error) {
    if (error instanceof FlagError) return failed(`${called}: ${plain(error.message)}\n`, ExitCode.Usage);
    if (error instanceof CommandError) return failed(`${called}: ${plain(error.message)}\n`, error.exitCode);
    throw error;
  }

  async function failed(text: string, code: number): Promise<number> {
    await session.errors.write(text);
    return code;
  }
}

/** The program with the words of the command that a command line begins with, as far as there is one: that has help of its own. */
function calledBy(args: readonly string[], name: string): string {
  const line = `${args.join(' ')} `;
  const [words = ''] = COMMANDS.map((command) => command.words)
    .filter((each) => line.startsWith(`${each} `))
    .toSorted((a, b) => b.length - a.length);
  return `${name} ${words}`.trimEnd();
}
