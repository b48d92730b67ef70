#!/usr/bin/env node
/** `npm start`: flags, a directory and ports of its own, then the quick start of local/quick-start.ts, and an orderly end. */
import path from 'node:path';
import { runCommandLine } from '../../shared/runtime/command-line.ts';
import { FlagError } from '../../shared/runtime/flags.ts';
import { LOCAL_PROGRAM, type LocalConfig } from './local/config.ts';
import { lineDisplay, terminalDisplay } from './local/display.ts';
import { choosePorts } from './local/ports.ts';
import { prepareDirectory } from './local/run-directory.ts';
import { shortPath } from './local/short-path.ts';

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129, SIGPIPE: 141 } as const;
type StopSignal = keyof typeof EXIT_CODES;

// Everything that was started is stopped; nothing that is left keeps the terminal waiting.
await runCommandLine(LOCAL_PROGRAM, main);

async function main(config: LocalConfig): Promise<number> {
  const startMillis = Date.now();
  const display = process.stdout.isTTY ? terminalDisplay(process.stdout, Date.now) : lineDisplay(process.stdout, Date.now);
  const cleanUp: (() => Promise<void>)[] = [];
  const stop = new AbortController();
  const stopped = Promise.withResolvers<StopSignal>();
  const stopBy = (signal: StopSignal): void => {
    stopped.resolve(signal);
    stop.abort(new Error(`stopped by ${signal}`));
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopBy(signal));
  // Nobody reads any more, as in `npm start | head`. Node tells so by an error, and ignores the signal.
  process.stdout.on('error', () => stopBy('SIGPIPE'));
  const run = async (): Promise<number> => {
    const ports = await choosePorts(config.portBase);
    const directory = prepareDirectory(config.directory, path.resolve('.switchyard'));
    display.note(`starting three clusters, Redis, the manager and the workers in ${shortPath(directory)}`);
    // Only now, because there is much to load, and somebody is waiting for a first word.
    const { quickStart } = await import('./local/quick-start.ts');
    return quickStart({ config, directory, ports, display, startMillis, cleanUp }, stop.signal);
  };
  try {
    return await Promise.race([run(), stopped.promise.then((signal) => EXIT_CODES[signal])]);
  } catch (error) {
    if (error instanceof FlagError) throw error;
    display.end();
    console.error(error instanceof Error ? error.message : String(error));
    return 1;
  } finally {
    if (stop.signal.aborted) display.note('stopping ...');
    for (const undo of cleanUp.toReversed()) await undo();
  }
}
