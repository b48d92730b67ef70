import { spawnSync } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FlagError } from '../../../shared/runtime/flags.ts';

/**
 * Makes the directory of this run, empty and marked as ours. Without a wish it is the first folder `1`, `2`, ... of `runs` that no other
 * run uses, and what runs that have died left there is removed. Throws {@link FlagError} when the directory that was asked for is another
 * run's, or holds something else.
 */
export function prepareDirectory(wanted: string | undefined, runs: string): string {
  if (wanted !== undefined) {
    const claim = claimDirectory(wanted);
    if (claim.kind === 'Claimed') return wanted;
    throw new FlagError(`--dir ${wanted} ${claim.kind === 'InUse' ? `is used by the run of process ${claim.pid}` : claim.problem}`);
  }
  for (let number = 1; ; number++) {
    const directory = path.join(runs, String(number));
    const claim = claimDirectory(directory);
    if (claim.kind === 'Unusable' && claim.cause !== undefined) throw new FlagError(`${directory} ${claim.problem}`);
    if (claim.kind !== 'Claimed') continue;
    removeDeadRuns(runs);
    return directory;
  }
}

/** Says whose a directory is. While a run is about to take a directory, the marker has the process ID of that run at its end. */
const MARKER = '.switchyard-run';
const BEING_TAKEN = /^\.switchyard-run\.(\d+)$/;

/** A process, and when it was started: process IDs come round again. */
type Owner = { readonly pid: number; readonly started: string };

type Claim =
  | { readonly kind: 'Claimed' }
  | { readonly kind: 'InUse'; readonly pid: number }
  | { readonly kind: 'Unusable'; readonly problem: string; readonly cause?: unknown };

/** Of several runs that want a directory at the same moment, one gets it. */
function claimDirectory(directory: string): Claim {
  for (;;) {
    try {
      mkdirSync(directory, { recursive: true });
      const holder = holderOf(directory);
      if (holder.kind === 'Foreign') return { kind: 'Unusable', problem: 'cannot be used: it holds files of something else' };
      if (holder.kind === 'Alive') return { kind: 'InUse', pid: holder.pid };
      if (holder.kind === 'Dead' && !takeOver(directory, holder.marker)) continue;
      if (mark(directory)) return { kind: 'Claimed' };
    } catch (error) {
      // Another run was faster: it has removed the directory of a dead one, or read its marker away.
      if (isCode(error, 'ENOENT')) continue;
      return { kind: 'Unusable', problem: `cannot be used: ${error instanceof Error ? error.message : String(error)}`, cause: error };
    }
  }
}

type Holder =
  | { readonly kind: 'Nobody' | 'Foreign' }
  | { readonly kind: 'Alive'; readonly pid: number }
  | { readonly kind: 'Dead'; readonly marker: { readonly name: string; readonly text: string } };

function holderOf(directory: string): Holder {
  const names = readdirSync(directory);
  if (names.length === 0) return { kind: 'Nobody' };
  const name = names.includes(MARKER) ? MARKER : names.find((each) => BEING_TAKEN.test(each));
  if (name === undefined) return { kind: 'Foreign' };
  const taker = Number(BEING_TAKEN.exec(name)?.[1] ?? 0);
  if (taker !== 0 && startOf(taker) !== undefined) return { kind: 'Alive', pid: taker };
  const text = readFileSync(path.join(directory, name), 'utf8');
  const owner = readOwner(text);
  if (taker === 0 && owner !== undefined && startOf(owner.pid) === owner.started) return { kind: 'Alive', pid: owner.pid };
  return { kind: 'Dead', marker: { name, text } };
}

/** Empties the directory of a dead run; false when another process was faster. */
function takeOver(directory: string, marker: { readonly name: string; readonly text: string }): boolean {
  const taken = path.join(directory, `${MARKER}.${process.pid}`);
  try {
    renameSync(path.join(directory, marker.name), taken);
  } catch (error) {
    if (isCode(error, 'ENOENT')) return false;
    throw error;
  }
  if (readFileSync(taken, 'utf8') !== marker.text) {
    // It is the marker of a new owner, who came between our look and our grasp.
    renameSync(taken, path.join(directory, MARKER));
    return false;
  }
  for (const name of readdirSync(directory)) {
    if (path.join(directory, name) !== taken) rmSync(path.join(directory, name), { recursive: true, force: true });
  }
  rmSync(taken);
  return true;
}

/** Writes our marker, whole or not at all; false when there is one. */
function mark(directory: string): boolean {
  const marker = path.join(directory, MARKER);
  const draft = path.join(directory, `${MARKER}.${process.pid}`);
  const self: Owner = { pid: process.pid, started: startOf(process.pid) ?? '' };
  writeFileSync(draft, JSON.stringify(self));
  try {
    linkSync(draft, marker);
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(draft);
  }
}

function removeDeadRuns(runs: string): void {
  for (const name of readdirSync(runs)) {
    const directory = path.join(runs, name);
    if (!/^\d+$/.test(name)) continue;
    try {
      const holder = holderOf(directory);
      if (holder.kind === 'Dead' && takeOver(directory, holder.marker)) rmdirSync(directory);
    } catch (error) {
      // Another run was faster, and removes it, too, or has it already.
      if (!isCode(error, 'ENOENT') && !isCode(error, 'ENOTEMPTY')) throw error;
    }
  }
}

function readOwner(text: string): Owner | undefined {
  try {
    return JSON.parse(text) as Owner;
  } catch {
    return undefined; // not written by us, or by an earlier version: then nobody can be asked whether it lives
  }
}

/** When a running process was started, in whatever form this system tells; undefined when there is none. */
function startOf(pid: number): string | undefined {
  if (!existsSync('/proc/self/stat')) {
    const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
    return stdout.trim() === '' ? undefined : stdout.trim();
  }
  try {
    // The name in parentheses may contain anything; behind it stand the state, and nineteen fields later the start.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined; // there is no such process
  }
}

const isCode = (error: unknown, code: string): boolean => error instanceof Error && 'code' in error && error.code === code;
