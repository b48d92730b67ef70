/** Flags, a directory and ports of its own, then the quick start of quick-start.ts, and an orderly end. */
import path from 'node:path';
import { FlagError } from '../../../shared/runtime/flags.ts';
import type { LocalConfig } from './config.ts';
import { lineDisplay, terminalDisplay } from './display.ts';
import { chooseOneMore, choosePorts } from './ports.ts';
import { prepareDirectory } from './run-directory.ts';
import { shortPath } from './short-path.ts';

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129, SIGPIPE: 141 } as const;
type StopSignal = keyof typeof EXIT_CODES;

/** Everything that was started is stopped when it resolves with the exit code; nothing that is left need keep the terminal waiting. */
export async function runLocal(config: LocalConfig): Promise<number> {
  const startMillis = Date.now();
  const shown = config.output === 'text' ? process.stdout : process.stderr;
  const display = shown.isTTY ? terminalDisplay(shown, Date.now) : lineDisplay(shown, Date.now);
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
    const prometheusPort = config.prometheus ? await chooseOneMore(config.portBase, 'prometheus') : undefined;
    const dashboardPort = config.keep ? await chooseOneMore(config.portBase, 'dashboard', 1) : undefined;
    const apiPort = config.keep ? await chooseOneMore(config.portBase, 'api', 2) : undefined;
    const directory = prepareDirectory(config.directory, path.resolve('.switchyard'));
    display.note(`starting three clusters, Redis, the manager and the workers in ${shortPath(directory)}`);
    // Only now, because there is much to load, and somebody is waiting for a first word.
    const { quickStart } = await import('./quick-start.ts');
    return quickStart({ config, directory, ports, prometheusPort, dashboardPort, apiPort, display, startMillis, cleanUp }, stop.signal);
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
