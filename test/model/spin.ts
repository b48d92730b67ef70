/** Spin, which searches the model. https://spinroot.com; Debian's package `spin`. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Settings } from './defects.ts';

const MODEL = path.join(import.meta.dirname, 'one-copy.pml');
const DEPTH_MAX = 200_000;
const MEMORY_MIB = 5_500;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** A search is exhaustive: no bitstate hashing, no partial order reduction. */
const COMMON = ['-w', '-DSAFETY', '-DNOREDUCE', `-DMEMLIM=${MEMORY_MIB}`];

export type Found = {
  readonly states: number;
  /** Steps of the counterexample; undefined: no promise is broken. */
  readonly steps: number | undefined;
  /** What Spin has said. */
  readonly said: string;
};

export type Checker = {
  /** Depth first, all states that there are. */
  searchAll(settings: Settings): Found;
  /** Breadth first: the counterexample is as short as any. */
  findShortest(settings: Settings): Found;
  remove(): void;
};

const canRun = (command: string, argument: string): boolean => spawnSync(command, [argument], { stdio: 'ignore' }).status === 0;

/** Why there is none; undefined where Spin and a C compiler can be run. Installs Debian's packages where that is possible. */
export function lacksSpin(): string | undefined {
  const isThere = (): boolean => canRun('spin', '-V') && canRun('gcc', '--version');
  if (isThere()) return undefined;
  const install = (): boolean => {
    const words = ['install', '-y', '-q', '--no-install-recommends', 'spin', 'gcc', 'libc6-dev'];
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    return spawnSync('apt-get', words, { stdio: 'ignore', env }).status === 0;
  };
  if (process.getuid?.() === 0 && !install()) spawnSync('apt-get', ['update', '-q'], { stdio: 'ignore' });
  if (isThere() || (process.getuid?.() === 0 && install() && isThere())) return undefined;
  return 'spin and gcc are missing and could not be installed (Debian: apt-get install spin gcc libc6-dev): the model is not searched';
}

/** Throws where the model cannot be compiled. */
export function compileModel(): Checker {
  const folder = compile([
    ['all', '-O2', '-DCOLLAPSE'],
    ['shortest', '-O2', '-DBFS'],
  ]);
  const search = (program: string, settings: Settings): Found =>
    foundIn(run(folder, path.join(folder, program), ['-n', `-m${DEPTH_MAX}`], settings));
  return {
    searchAll: (settings) => search('all', settings),
    findShortest: (settings) => search('shortest', settings),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export type Replayed = {
  readonly isAccepted: boolean;
  /** The last state of the trace that a run of the model shows. */
  readonly position: number;
  readonly states: number;
};

export type Replayer = {
  /**
   * Of each trace, whether some run of the model shows its states, one after another. All in one process, because starting one takes longer
   * than the search. Throws where a search was cut short.
   */
  replay(traces: readonly (readonly (readonly number[])[])[]): readonly Replayed[];
  remove(): void;
};

/** What may strike between two states of a trace, beside what is known of its story. */
const REPLAYED: Settings = { FAULTS: 1, STOPS: 1, CUTS: 1, LEADERS: 1, RESTARTS: 1, EDITS: 1, REMOVALS: 1, DETAIL: 1 };
/** A run that shows a trace has a few steps for each of its states. */
const REPLAY_DEPTH_MAX = 10_000;
const NEXT = '--- next trace';
const REPLAY_ALL = `for TRACE in "$@"; do export TRACE; ./replay -n -m${REPLAY_DEPTH_MAX} -E -w16; echo "${NEXT}"; done`;

/** Throws where the model cannot be compiled. Nothing is optimized: a replay visits a hundred states, and a compilation takes seconds. */
export function compileReplay(): Replayer {
  const folder = compile([['replay', '-O0', '-DCOLLAPSE']], ['-DTRACE']);
  return {
    replay(traces) {
      if (traces.length === 0) return [];
      const files = traces.map((states, at) => {
        writeFileSync(path.join(folder, `trace-${at}`), states.map((state) => state.join(' ')).join('\n'));
        return `trace-${at}`;
      });
      const said = run(folder, 'sh', ['-c', REPLAY_ALL, 'sh', ...files], REPLAYED).split(`${NEXT}\n`);
      return files.map((_, at) => replayedIn(said[at] ?? ''));
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** What the verifier reports of one trace, which is one of the model where the assertion of its witness is violated, and no other. */
export function replayedIn(said: string): Replayed {
  const { states, steps } = foundIn(said);
  const isAccepted = /assertion violated 0 \(/.test(said);
  if (steps !== undefined && !isAccepted) throw new Error(`the model breaks its own promise where it follows a trace: ${said}`);
  const positions = [...said.matchAll(/^position (\d+)$/gm)].map(([, position]) => Number(position));
  return { isAccepted, position: Math.max(0, ...positions), states };
}

/** A folder with verifiers of the model, each by its name and the flags of its compilation. */
function compile(verifiers: readonly (readonly [name: string, ...flags: string[]])[], definitions: readonly string[] = []): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'switchyard-model-'));
  const ran = (command: string, words: readonly string[]): void => {
    const { status, stdout, stderr } = spawnSync(command, words, { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${command} ${words.join(' ')}: ${stdout}${stderr}`);
  };
  ran('spin', ['-a', ...definitions, MODEL]);
  for (const [name, ...flags] of verifiers) ran('gcc', [...COMMON, ...flags, '-o', name, 'pan.c']);
  return folder;
}

function run(folder: string, program: string, words: readonly string[], settings: Settings): string {
  const values = Object.entries(settings).map(([name, value]) => [name, String(value)]);
  const env = { PATH: process.env['PATH'], ...Object.fromEntries(values) };
  return spawnSync(program, words, { cwd: folder, env, encoding: 'utf8', maxBuffer: OUTPUT_BYTES_MAX }).stdout;
}

/** Throws where the search has not come to its end: memory and depth are limited. */
export function foundIn(said: string): Found {
  const states = /(\d+) states, stored/.exec(said)?.[1];
  const errors = /errors: (\d+)/.exec(said)?.[1];
  const depth = /at depth (\d+)/.exec(said)?.[1];
  const isCut = /max search depth too small|out of memory|Search not completed/.test(said) && errors === '0';
  if (states === undefined || errors === undefined || isCut) throw new Error(`the search has not come to its end: ${said}`);
  return { states: Number(states), steps: errors === '0' ? undefined : Number(depth), said };
}
