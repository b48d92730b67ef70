import { flagValues, type FlagTable, type FlagValues } from '../../shared/runtime/flags.ts';
import type { Session } from './session.ts';

/** What a command is called with beside its flags, in the words of its usage line: `<FILE...>` must be there, `[NAME...]` may. */
export type Operand = {
  readonly usage: string;
  readonly about: string;
  /** The only words that it may be, where there are only some. */
  readonly choices?: readonly string[];
  /** Words that completion offers, where it may be others, too. */
  readonly suggestions?: readonly string[];
};

/** A command as its file describes it; `Config` is what its flags and operands come to. */
export type CommandDefinition<Table extends FlagTable, Config> = {
  /** What a user types behind `switchyard`: `get`, or `clusters join`. */
  readonly words: string;
  /** What it does, in a few words for the list of commands. */
  readonly summary: string;
  /** What else there is to know of it, among that what it costs and which rights it needs. */
  readonly about: string;
  readonly operands?: readonly Operand[];
  readonly flags: Table;
  /** What its exit codes mean beside those that all commands share. */
  readonly exitCodes?: Readonly<Record<string, string>>;
  /** Whole command lines without `switchyard`. */
  readonly examples?: readonly string[];
  /** Throws FlagError for what does not go together. */
  readonly configOf: (values: FlagValues<Table>, operands: readonly string[]) => Config;
  /** Loads what does the work, which nobody else has to wait for: by `import()`. It resolves with the exit code. */
  readonly load: () => Promise<(config: Config, session: Session) => Promise<number>>;
};

/** A command of the program `switchyard`, whatever its flags are. */
export type Command = Pick<CommandDefinition<FlagTable, unknown>, 'words' | 'summary' | 'about' | 'flags'> & {
  readonly operands: readonly Operand[];
  readonly exitCodes: Readonly<Record<string, string>>;
  readonly examples: readonly string[];
  /** Runs it with flags as they were typed, and resolves with the exit code. Throws FlagError for what cannot be used. */
  run(given: ReadonlyMap<string, string>, operands: readonly string[], session: Session): Promise<number>;
};

/** Makes a command of its definition: one file with this, and one line in commands.ts, add a command. */
export function command<Table extends FlagTable, Config>(definition: CommandDefinition<Table, Config>): Command {
  const { words, summary, about, flags, operands = [], exitCodes = {}, examples = [], configOf, load } = definition;
  return {
    words,
    summary,
    about,
    flags,
    operands,
    exitCodes,
    examples,
    async run(given, words, session) {
      const config = configOf(flagValues(flags, given, session.environment), words);
      const act = await load();
      return act(config, session);
    },
  };
}
