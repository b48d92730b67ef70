import { existsSync } from 'node:fs';
import path from 'node:path';
import { FlagError, text, wholeNumber, type FlagTable, type FlagValues, type Program } from '../../../shared/runtime/flags.ts';
import type { LogLevel } from '../../../shared/runtime/logger.ts';
import { LOG_FLAGS } from '../../../shared/runtime/program-flags.ts';
import { FORM_FLAG, type Form } from '../cluster-flags.ts';
import { PORT_NAMES, portProblem } from './ports.ts';

export type LocalConfig = {
  /** Stay up after the examples have run. */
  readonly keep: boolean;
  /** JobSets run, too. */
  readonly kinds: boolean;
  /** Kubeconfigs, logs and Redis' files of this run; absent: the first folder of .switchyard that no other run uses. */
  readonly directory: string | undefined;
  /** First of the ports to listen on; 0: any free ports. */
  readonly portBase: number;
  /** Directory of the control planes' programs; undefined: embedded control planes. */
  readonly assets: string | undefined;
  /** A Prometheus looks at the programs. */
  readonly prometheus: boolean;
  /** Give up on the examples after this long, in milliseconds. */
  readonly timeoutMs: number;
  readonly logLevel: LogLevel;
  /** Of the summary; what happens until then goes to standard error where it is for programs. */
  readonly output: Form;
};

const FLAGS = {
  keep: { about: 'stay up afterwards; prints kubeconfigs, URLs and commands to try. Ctrl-C ends it' },
  kinds: {
    about: 'run a JobSet, too, with a small operator in place of its own',
  },
  dir: {
    value: 'DIR',
    about: 'kubeconfigs and logs of the run; default: .switchyard/1, or 2 beside another run, and so on',
    parse: (given: string) => path.resolve(text(given)),
  },
  'port-base': {
    value: 'PORT',
    fallback: '0',
    about: `listen on PORT and the ${PORT_NAMES.length - 1} after it; 0 takes any free ones`,
    parse: portBase,
  },
  assets: {
    value: 'DIR',
    about: 'etcd, kube-apiserver and, if it is there, kube-controller-manager of DIR instead of embedded control planes',
    parse: assetsDirectory,
  },
  prometheus: {
    about: 'start Prometheus, too (Debian’s package of that name), with the alerts of Switchyard',
  },
  timeout: { value: 'SECONDS', fallback: '120', about: 'stop waiting for the examples after this time', parse: wholeNumber(1, 86_400) },
  output: { ...FORM_FLAG.output, about: 'of the summary: text; json, yaml: for programs, with all else on standard error' },
  ...LOG_FLAGS,
} satisfies FlagTable;

export const LOCAL_PROGRAM: Program<typeof FLAGS, LocalConfig> = {
  name: 'npm start',
  usage: 'npm start --',
  about: `Starts one manager cluster and two worker clusters (control planes in this process, or with --assets beside it), Redis, the manager and a worker
for each cluster; runs the Jobs of examples/ for real, shows them in a live table and ends with a summary.`,
  flags: FLAGS,
  configOf,
};

function configOf(flags: FlagValues<typeof FLAGS>): LocalConfig {
  return {
    keep: flags.keep,
    kinds: flags.kinds,
    directory: flags.dir,
    portBase: flags['port-base'],
    assets: flags.assets,
    prometheus: flags.prometheus,
    timeoutMs: flags.timeout * 1000,
    logLevel: flags['log-level'],
    output: flags.output,
  };
}

function assetsDirectory(given: string): string {
  const directory = path.resolve(text(given));
  const missing = ['etcd', 'kube-apiserver'].filter((program) => !existsSync(path.join(directory, program)));
  if (missing.length > 0) throw new FlagError(`${directory} has no ${missing.join(' and no ')}; name the directory that has both`);
  return directory;
}

function portBase(given: string): number {
  const base = wholeNumber(0, 65_535)(given);
  const problem = base === 0 ? undefined : portProblem(base);
  if (problem !== undefined) throw new FlagError(problem);
  return base;
}
