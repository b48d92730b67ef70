import type { Command } from '../command.ts';

/** What could come next on a command line: words, or names that the cluster knows. */
export type Candidates = {
  readonly words: readonly string[];
  /** Names of which objects could come, too. */
  readonly names?: 'jobs' | 'clusters' | 'queues';
  /** Flags of the connection that were given before, so that those names are asked of the right cluster. */
  readonly given: ReadonlyMap<string, string>;
};

/** `typed` are the words behind the program's name; the last is the one that is being typed, and may be empty. */
export function candidatesOf(commands: readonly Command[], typed: readonly string[]): Candidates {
  const last = typed.at(-1) ?? '';
  const before = typed.slice(0, -1);
  const command = commands
    .filter(({ words }) => startsWith(before, words.split(' ')))
    .toSorted((a, b) => b.words.split(' ').length - a.words.split(' ').length)[0];
  const below = commands
    .map(({ words }) => words.split(' '))
    .filter((words) => words.length > before.length && startsWith(words, before))
    .map((words) => words[before.length] ?? '');
  if (command === undefined) return pick(below, last, new Map());
  const { given, operands, open } = read(command, before.slice(command.words.split(' ').length));
  if (operands === undefined) return { words: [], given };
  if (open !== undefined) return { ...pick(valuesOf(command, open), last, given), ...namesOf(open === 'queue' ? 'queues' : undefined) };
  const flags = Object.keys(command.flags).map((name) => `--${name}`);
  if (last.startsWith('-')) return pick([...flags, '--help'], last, given);
  const operand = command.operands[Math.min(operands.length, command.operands.length - 1)];
  return {
    ...pick([...below, ...(operands.length === 0 ? (operand?.choices ?? operand?.suggestions ?? []) : [])], last, given),
    ...namesOf(namesFor(command, operands)),
  };
}

const pick = (words: readonly string[], last: string, given: ReadonlyMap<string, string>): Candidates => ({
  words: [...new Set(words)].filter((word) => word.startsWith(last)),
  given,
});

const namesOf = (names: Candidates['names'] | undefined): Pick<Candidates, 'names'> => (names === undefined ? {} : { names });

const startsWith = (words: readonly string[], beginning: readonly string[]): boolean =>
  beginning.every((word, index) => words[index] === word);

type Read = {
  readonly given: ReadonlyMap<string, string> /** Undefined behind `--`. */;
  readonly operands: readonly string[] | undefined /** The flag whose value comes next. */;
  readonly open: string | undefined;
};

function read({ flags }: Command, words: readonly string[]): Read {
  const given = new Map<string, string>();
  const operands: string[] = [];
  let open: string | undefined;
  for (const word of words) {
    if (open !== undefined) {
      given.set(open, word);
      open = undefined;
      continue;
    }
    if (word === '--') return { given, operands: undefined, open };
    const [, long, inline] = /^--([^=]+)(?:=(.*))?$/.exec(word) ?? [];
    const name = long ?? Object.entries(flags).find(([, { short }]) => short !== undefined && word === `-${short}`)?.[0];
    if (name === undefined) {
      if (!word.startsWith('-')) operands.push(word);
    } else if (inline !== undefined) given.set(name, inline);
    else if (flags[name]?.value !== undefined) open = name;
  }
  return { given, operands, open };
}

/** Flags say in their first words which values they take, where there are only some: "table, wide, json". */
const valuesOf = ({ flags }: Command, name: string): string[] => {
  const about = flags[name]?.about ?? '';
  return /^[\w:-]+(, [\w:-]+)+$/.test(about) ? about.split(', ') : [];
};

const ON_JOBS = ['explain', 'cancel', 'hold', 'release'];
const ON_CLUSTERS = ['cordon', 'uncordon', 'drain', 'clusters cordon', 'clusters uncordon', 'clusters drain', 'clusters leave'];

function namesFor({ words }: Command, [kind]: readonly string[]): Candidates['names'] | undefined {
  if (ON_JOBS.includes(words)) return 'jobs';
  if (ON_CLUSTERS.includes(words)) return 'clusters';
  if (words === 'get') return (['jobs', 'queues', 'clusters'] as const).find((each) => each === kind || `${kind ?? '-'}s` === each);
  return undefined;
}
