import type { WriteStream } from 'node:tty';
import type { Output, Session } from './session.ts';

/** The session of this process: its streams, its environment, and Ctrl-C. */
export function processSession(): Session {
  let interruption: AbortSignal | undefined;
  return {
    output: outputTo(process.stdout),
    errors: outputTo(process.stderr),
    input: process.stdin,
    environment: process.env,
    // Only for commands that ask for it: the others end by Ctrl-C as any program does.
    get signal() {
      interruption ??= untilInterrupted();
      return interruption;
    },
    now: Date.now,
  };
}

function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => controller.abort(signal));
  return controller.signal;
}

function outputTo(stream: WriteStream): Output {
  return {
    isTerminal: stream.isTTY === true,
    // Unknown sizes are said to be 0.
    get width() {
      return stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY;
    },
    colours: stream.isTTY && !process.env['NO_COLOR'] && stream.hasColors(),
    write: (text) => new Promise((resolve, reject) => stream.write(text, (error) => (error ? reject(error) : resolve()))),
  };
}
