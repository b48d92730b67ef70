import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { type Clock, endsWithin } from '../../../runtime/clock.ts';
import { omitUndefined } from '../../../runtime/omit-undefined.ts';
import { signalGroup, spawnLeashed } from '../../../runtime/leash.ts';
import { askProbe } from './ask-probe.ts';
import type { ContainerExit, ContainerRuntime, RunningContainer, StartRequest } from './container-runtime.ts';
import { ContainerOutput } from './container-output.ts';
import { LogFile } from './log-file.ts';
import { OutputPipes } from './output-pipes.ts';
import { containerFiles, podDirectory } from './pod-directory.ts';
import { mountVolumes, placeMounts, refreshVolumes } from './pod-volumes.ts';

/** Where programs are looked for: the Node.js that runs this one, then the usual places. */
const SEARCH_PATH = `${dirname(process.execPath)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;
const MESSAGE_BYTES_MAX = 4096;
const LOG_MESSAGE_BYTES_MAX = 2048;
const LOG_MESSAGE_LINES_MAX = 80;
/** How long the last words of a container are waited for. */
const LAST_WORDS_MS = 2000;
const START_ERROR_EXIT_CODE = 128;

/**
 * Runs containers as processes of this machine: each in its own process group, its output in a log, its image ignored. Containers share the
 * machine's files and network; only their working directory and their pod's emptyDirs and downward API volumes are their own, of which the
 * places stand in the words of their command. They end with this process, however it ends.
 */
export function createProcessContainers(directory: string, clock: Clock): ContainerRuntime {
  const pipes = new OutputPipes(join(directory, 'pipes'));
  const running = new Set<ProcessContainer>();
  return {
    mount: (pod, container) => mountVolumes(directory, pod, container),
    podChanged: (pod) => refreshVolumes(directory, pod),
    ask: askProbe,
    start(request) {
      const container = new ProcessContainer(directory, request, clock, pipes);
      running.add(container);
      void container.exited.then(() => running.delete(container));
      return container;
    },
    removePod: async (pod) => rmSync(podDirectory(directory, pod), { recursive: true, force: true }),
    async close() {
      for (const container of running) container.stop(0);
      await Promise.all([...running].map((container) => container.exited));
      pipes.close();
    },
  };
}

class ProcessContainer implements RunningContainer {
  readonly exited: Promise<ContainerExit>;
  readonly hasStarted: boolean;
  readonly #clock: Clock;
  #groupId: number | undefined;
  #deadline: { readonly atMs: number; cancel(): void } | undefined;

  constructor(directory: string, request: StartRequest, clock: Clock, pipes: OutputPipes) {
    this.#clock = clock;
    this.exited = this.#run(directory, request, pipes).catch((error: unknown) => startError(error));
    // Up to here everything has happened at once.
    this.hasStarted = this.#groupId !== undefined;
  }

  stop(graceMs: number): void {
    const groupId = this.#groupId;
    if (groupId === undefined) return;
    const atMs = this.#clock.now() + graceMs;
    if (this.#deadline !== undefined && this.#deadline.atMs <= atMs) return;
    if (this.#deadline === undefined && graceMs > 0) signalGroup(groupId, 'SIGTERM');
    this.#deadline?.cancel();
    const kill = (): void => {
      if (this.#groupId !== undefined) signalGroup(this.#groupId, 'SIGKILL');
    };
    if (graceMs <= 0) kill();
    const timer = this.#clock.schedule(kill, graceMs);
    this.#deadline = { atMs, cancel: () => timer.cancel() };
  }

  async #run(directory: string, { pod, container, command, restarts }: StartRequest, pipes: OutputPipes): Promise<ContainerExit> {
    const [program, ...args] = command.words;
    if (program === undefined) {
      throw new Error(`container ${container.name} names no command: images are not run here, so write spec.containers[].command`);
    }
    const files = containerFiles(directory, pod, container.name, restarts);
    mkdirSync(dirname(files.log), { recursive: true });
    mkdirSync(files.home, { recursive: true });
    writeFileSync(files.terminationMessage, '');
    // Containers write to a path of the image; here every container has a file of its own for that.
    const messagePath = container.terminationMessagePath ?? '/dev/termination-log';
    const placed = (word: string): string => placeMounts(directory, pod, container, word.replaceAll(messagePath, files.terminationMessage));
    const pipe = pipes.open();
    const output = new ContainerOutput(pipe.output, files.log, this.#clock);
    try {
      const child = spawnLeashed([placed(program), ...args.map(placed)], {
        cwd: container.workingDir ?? files.home,
        env: { PATH: SEARCH_PATH, HOME: files.home, TMPDIR: files.home, LANG: 'C.UTF-8', ...command.environment },
        output: pipe.input,
      });
      const ended = new Promise<ContainerExit>((resolve, reject) => {
        child.once('error', reject);
        child.once('exit', (code, signal) => resolve({ exitCode: code ?? 128 + (signal === null ? 0 : constants.signals[signal]) }));
      });
      this.#groupId = child.pid;
      pipe.started();
      const exit = await ended;
      this.#endGroup();
      // Whoever left the process group may hold the output open for ever.
      await endsWithin(this.#clock, LAST_WORDS_MS, output.ended);
      const { message = output.problem } = terminationMessage(files, exit.exitCode, container.terminationMessagePolicy);
      return { ...exit, ...omitUndefined({ message }) };
    } finally {
      pipe.started();
      pipe.output.destroy();
    }
  }

  /** With its first process a container ends, whatever that one has started. */
  #endGroup(): void {
    const groupId = this.#groupId;
    this.#groupId = undefined;
    this.#deadline?.cancel();
    if (groupId === undefined) return;
    signalGroup(groupId, 'SIGKILL');
  }
}

function startError(error: unknown): ContainerExit {
  const message = error instanceof Error ? error.message : String(error);
  return { exitCode: START_ERROR_EXIT_CODE, reason: 'StartError', message: `failed to start: ${message}` };
}

function terminationMessage(
  files: { readonly log: string; readonly terminationMessage: string },
  exitCode: number,
  policy: string | undefined,
): { message?: string } {
  const written = existsSync(files.terminationMessage)
    ? readFileSync(files.terminationMessage).subarray(0, MESSAGE_BYTES_MAX)
    : Buffer.alloc(0);
  if (written.length > 0) return { message: written.toString('utf8') };
  if (policy !== 'FallbackToLogsOnError' || exitCode === 0) return {};
  const log = new LogFile(files.log, { timestamps: false }, LOG_MESSAGE_LINES_MAX);
  let tail = Buffer.alloc(0);
  log.read((text) => (tail = Buffer.concat([tail, text]).subarray(-LOG_MESSAGE_BYTES_MAX)));
  log.close();
  return { message: tail.toString('utf8') };
}
