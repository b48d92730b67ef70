import { type ChildProcess, spawn } from 'node:child_process';
import type { Logger } from '../../../runtime/logger.ts';

/**
 * Reads `+ PGID` and `- PGID` lines, and kills every process group still on its list when its input ends. The input ends
 * when this program does, however it ends, so that nothing it started outlives it.
 */
const GUARD_SCRIPT = `
groups=' '
while read -r change group; do
  case "$change" in
    +) groups="$groups$group " ;;
    -) case "$groups" in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
`;

/** Kills the process groups of a program that ends without doing so itself. */
export class ProcessGuard {
  readonly #log: Logger;
  #guard: ChildProcess | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  watch(groupId: number): void {
    this.#guard ??= this.#start();
    this.#guard.stdin?.write(`+ ${groupId}\n`);
  }

  release(groupId: number): void {
    this.#guard?.stdin?.write(`- ${groupId}\n`);
  }

  /** Ends the guard, which kills whatever was not released. */
  async close(): Promise<void> {
    const guard = this.#guard;
    this.#guard = undefined;
    if (guard === undefined || guard.exitCode !== null || guard.signalCode !== null) return;
    const ended = new Promise((resolve) => guard.once('exit', resolve));
    guard.stdin?.end();
    await ended;
  }

  #start(): ChildProcess {
    // In a session of its own: a Ctrl-C meant for this program must not end its guard first.
    const guard = spawn('/bin/sh', ['-c', GUARD_SCRIPT], { detached: true, stdio: ['pipe', 'ignore', 'ignore'], env: {} });
    const failed = (error: Error): void => this.#log.warn('the process guard failed; a crash would leave processes behind', { error });
    guard.on('error', failed);
    guard.stdin?.on('error', failed);
    return guard;
  }
}

/** Signals a whole process group. False when there is none left. */
export function signalGroup(groupId: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-groupId, signal);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}
