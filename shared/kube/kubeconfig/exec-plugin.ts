import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Clock } from '../../runtime/clock.ts';
import { type ExecCredential, execInfo, readExecCredential } from './exec-credential.ts';
import { KubeconfigError } from './kubeconfig-error.ts';
import type { ExecPluginConfig, SelectedCluster } from './select.ts';

export type ExecPluginDeps = {
  readonly clock: Clock;
  /** Inherited by the plugin. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether somebody sits at standard input. */
  readonly interactive: boolean;
};

export type ClusterToTell = Omit<SelectedCluster, 'ca'> & { readonly caPem: string | undefined };

/** A plugin that has not answered by then does not answer, unless somebody is typing. */
const TIME_LIMIT_MS = 60_000;
/** How much of its complaint is repeated. */
const COMPLAINT_CHARACTERS_MAX = 1_000;

/** A program that prints credentials. Its answer is kept until it expires. */
export class ExecPlugin {
  readonly #config: ExecPluginConfig;
  readonly #name: string;
  readonly #deps: ExecPluginDeps;
  #answer: ExecCredential | undefined;

  /** `who` is what messages call the user whose plugin it is. */
  constructor(config: ExecPluginConfig, who: string, deps: ExecPluginDeps) {
    this.#config = config;
    this.#name = `${who}: the exec plugin ${JSON.stringify(config.command)}`;
    this.#deps = deps;
    if (config.interactiveMode === 'Always' && !deps.interactive)
      throw new KubeconfigError(`${this.#name} wants to ask somebody (interactiveMode Always), but standard input is no terminal`);
  }

  async credential(cluster: ClusterToTell): Promise<ExecCredential> {
    if (this.#answer === undefined || this.#deps.clock.now() >= (this.#answer.expiresAtMs ?? Number.POSITIVE_INFINITY)) {
      this.#answer = readExecCredential(await this.#run(cluster), this.#config.apiVersion, this.#name);
    }
    return this.#answer;
  }

  /** What the plugin prints. */
  async #run(cluster: ClusterToTell): Promise<string> {
    const { command, args, env, interactiveMode } = this.#config;
    const interactive = interactiveMode !== 'Never' && this.#deps.interactive;
    const child = spawn(command, args, {
      env: {
        ...this.#deps.environment,
        ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
        KUBERNETES_EXEC_INFO: execInfo(this.#config, interactive, cluster),
      },
      // Whoever is asked must see the questions.
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', interactive ? 'inherit' : 'pipe'],
    });
    const ended = new Promise<number | NodeJS.Signals | Error>((resolve) => {
      child.once('error', resolve);
      child.once('close', (code, signal) => resolve(signal ?? code ?? 0));
    });
    const over = Promise.withResolvers<'Late'>();
    const timer = interactive ? undefined : this.#deps.clock.schedule(() => over.resolve('Late'), TIME_LIMIT_MS);
    try {
      const printed = child.stdout === null ? '' : text(child.stdout);
      const complaint = child.stderr === null ? '' : text(child.stderr);
      const outcome = await Promise.race([Promise.all([ended, printed, complaint]), over.promise]);
      if (outcome === 'Late') throw this.#failure(`did not answer within ${TIME_LIMIT_MS / 1000} s`, '');
      if (outcome[0] !== 0) throw this.#failure(whatHappened(outcome[0]), outcome[2].trim());
      return outcome[1];
    } finally {
      timer?.cancel();
      // Nothing happens where it has ended. What it started itself may still hold the pipes.
      child.kill('SIGKILL');
      child.stdout?.destroy();
      child.stderr?.destroy();
    }
  }

  #failure(what: string, complaint: string): KubeconfigError {
    const { installHint } = this.#config;
    const said = complaint === '' ? '' : `: ${complaint.slice(-COMPLAINT_CHARACTERS_MAX)}`;
    return new KubeconfigError(`${this.#name} ${what}${said}${installHint === undefined ? '' : `\n${installHint}`}`);
  }
}

function whatHappened(end: number | string | Error): string {
  if (!(end instanceof Error)) return typeof end === 'number' ? `ended with exit code ${end}` : `was ended by ${end}`;
  if ('code' in end && end.code === 'ENOENT') return 'was not found; install it, or write its path into exec.command';
  return `cannot be started (${end.message}); look at its path and permissions`;
}
