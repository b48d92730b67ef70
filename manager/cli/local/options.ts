import path from 'node:path';
import { parseArgs } from 'node:util';

export type LocalOptions = {
  /** Stay up after the examples have run. */
  readonly keep: boolean;
  /** Kubeconfigs, logs and Redis' files of this run. */
  readonly directory: string;
  /** First of the ports to listen on; 0: any free ports. */
  readonly portBase: number;
  /** Give up on the examples after this long, in milliseconds. */
  readonly timeoutMs: number;
};

export const HELP = `npm start -- [OPTIONS]

Brings up one manager cluster and two worker clusters (embedded control planes in this process), Redis, the manager
and a worker for each cluster; runs the Jobs of examples/ on them for real, shows them in a live table and ends with
a summary. Exit status: 0 when every Job ended as expected, 1 otherwise, 2 for unusable options.

  --keep               stay up afterwards; prints kubeconfigs, URLs and commands to try. Ctrl-C ends it.
  --dir DIR            where kubeconfigs and logs of the run go (default .switchyard; its earlier content is replaced)
  --port-base PORT     listen on PORT, PORT+1, ... instead of any free ports
  --timeout SECONDS    give up on the examples after so long (default 120)
  --help               this text
`;

/** A mistake in what the user typed: shown as one line, without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export function parseOptions(args: readonly string[]): LocalOptions | 'help' {
  const { values } = parse(args);
  if (values.help) return 'help';
  return {
    keep: values.keep ?? false,
    directory: path.resolve(values.dir ?? '.switchyard'),
    portBase: wholeNumber('--port-base', values['port-base'] ?? '0', 0, 65_500),
    timeoutMs: wholeNumber('--timeout', values.timeout ?? '120', 1, 86_400) * 1000,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        keep: { type: 'boolean' },
        dir: { type: 'string' },
        'port-base': { type: 'string' },
        timeout: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)} (npm start -- --help lists the options)`);
  }
}

function wholeNumber(flag: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new UsageError(`${flag} ${text}: must be a whole number from ${least} to ${most}`);
}
