import type { ChildProcess } from 'node:child_process';
import { appendFileSync, closeSync, openSync } from 'node:fs';
import { signalGroup, spawnLeashed } from '../../../shared/runtime/leash.ts';

export type ProgramOptions = {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Both output streams go to this file. */
  readonly logFile: string;
  /** Resolves when the program is of use; asked again and again until then. */
  readonly isReady: () => Promise<boolean>;
  /** Told about every start, the first and later ones. */
  readonly onStart: () => void;
  /** Told about every exit that nobody asked for, before the program is started again. */
  readonly onRestart: (name: string, how: string) => void;
};

/** A child process that is started again when it dies, as a Deployment would, until it is stopped or this process ends, however it ends. */
export interface Program {
  readonly name: string;
  /** Process ID of the present incarnation. */
  pid(): number | undefined;
  /** Rejects when the program keeps dying or is not ready in time, naming its log. */
  waitUntilReady(timeoutMs: number): Promise<void>;
  /** SIGTERM, then SIGKILL after five seconds; resolves when the process is gone. */
  stop(): Promise<void>;
}

const RESTARTS_MAX = 5;
const RESTART_DELAY_MS = 300;
const STOP_GRACE_MS = 5_000;
const POLL_MS = 50;

export function startProgram(options: ProgramOptions): Program {
  let child: ChildProcess | undefined;
  let restarts = 0;
  let stopping = false;
  let fatal: Error | undefined;
  let ended: Promise<void> = Promise.resolve();
  let restartTimer: NodeJS.Timeout | undefined;

  const start = (): void => {
    const output = openSync(options.logFile, 'a');
    try {
      child = watched(spawnLeashed(options.command, { env: options.env, output }));
      options.onStart();
    } catch (error) {
      fatal = new Error(`${options.name} cannot be started: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    } finally {
      closeSync(output);
    }
  };

  const watched = (started: ChildProcess): ChildProcess => {
    ended = new Promise((resolve) => {
      started.once('error', (error) => {
        fatal = new Error(`${options.name} cannot be started: ${error.message}`, { cause: error });
        resolve();
      });
      started.once('exit', (code, signal) => {
        resolve();
        if (!stopping) restart(signal ?? `exit status ${code}`);
      });
    });
    return started;
  };

  const restart = (how: string): void => {
    if (restarts === RESTARTS_MAX) {
      fatal = new Error(`${options.name} ended again and again (${how}); its log: ${options.logFile}`);
      return;
    }
    restarts += 1;
    appendFileSync(options.logFile, `--- ended with ${how}, started again ---\n`);
    options.onRestart(options.name, how);
    restartTimer = setTimeout(start, RESTART_DELAY_MS);
  };

  start();
  return {
    name: options.name,
    pid: () => child?.pid,
    async waitUntilReady(timeoutMs) {
      const deadlineMillis = Date.now() + timeoutMs;
      while (!(await options.isReady())) {
        if (fatal) throw fatal;
        if (Date.now() > deadlineMillis)
          throw new Error(`${options.name} is not ready after ${timeoutMs / 1000} s; its log: ${options.logFile}`);
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    },
    async stop() {
      stopping = true;
      clearTimeout(restartTimer);
      const pid = child?.exitCode === null && child.signalCode === null ? child.pid : undefined;
      if (pid !== undefined) signalGroup(pid, 'SIGTERM');
      const killer = setTimeout(() => pid !== undefined && signalGroup(pid, 'SIGKILL'), STOP_GRACE_MS);
      await ended;
      clearTimeout(killer);
    },
  };
}
