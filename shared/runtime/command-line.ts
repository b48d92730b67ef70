import { readConfigFile } from './config-file.ts';
import { EXIT_USAGE, FlagError, parseFlags, type FlagTable, type Program } from './flags.ts';

/**
 * Runs `main` with what the command line and the environment say, and ends the process with the exit code that it resolves with. `--help`
 * ends with 0. What cannot be used, also what `main` finds out and throws as {@link FlagError}, is one line on standard error, and exit
 * code 2.
 */
export async function runCommandLine<Table extends FlagTable, Config>(
  program: Program<Table, Config>,
  main: (config: Config) => Promise<number>,
): Promise<never> {
  const parsed = parseFlags(program, process.argv.slice(2), process.env, readConfigFile);
  switch (parsed.kind) {
    case 'Help':
      process.stdout.write(parsed.text);
      return process.exit(0);
    case 'Invalid':
      return refuse(program.name, parsed.problem);
    case 'Run':
      try {
        // Not by exitCode: what has not ended within the drain time would keep the process alive.
        return process.exit(await main(parsed.config));
      } catch (error) {
        if (error instanceof FlagError) return refuse(program.name, error.message);
        throw error;
      }
  }
}

function refuse(name: string, problem: string): never {
  process.stderr.write(`${name}: ${problem}\n`);
  process.exit(EXIT_USAGE);
}
