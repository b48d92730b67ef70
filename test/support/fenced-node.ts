/** The program of a pod fence as it runs in a pod: the very text, with files, a clock and a network that are imagined. */
import { createContext, Script } from 'node:vm';
import path from 'node:path';
import { POD_FENCE_PROGRAM } from '../../manager/work-kind/job/copy/pod-fence-program.ts';

export const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** A pod on a node: its files, the time since the node was booted, and the sidecar, started once or more. */
export class FencedNode {
  readonly #afterSeconds: number;
  readonly files = new Map<string, string>([[BOOT_ID, 'boot-1\n']]);
  readonly directories = new Set<string>(['/state']);
  /** Since it was booted. */
  seconds = 5_000;
  exitCode: number | undefined;
  #look: () => void = () => {};
  #terminate: () => void = () => {};
  #ask: (request: object, response: object) => void = () => {};

  constructor(afterSeconds: number) {
    this.#afterSeconds = afterSeconds;
  }

  start(): void {
    this.exitCode = undefined;
    const end = (code: number): never => {
      this.exitCode = code;
      throw new Ended();
    };
    const modules: Record<string, object> = {
      'node:fs': this.#fs(),
      'node:os': { uptime: () => this.seconds },
      'node:path': path,
      'node:timers': {
        setInterval: (look: () => void, everyMs: number) => {
          if (everyMs === 1_000) this.#look = look;
        },
      },
      'node:http': {
        createServer: (ask: (request: object, response: object) => void) => {
          this.#ask = ask;
          return { listen: () => undefined };
        },
      },
    };
    this.#run(() =>
      new Script(POD_FENCE_PROGRAM).runInContext(
        createContext({
          require: (name: string) => modules[name],
          process: {
            argv: ['node', '/renewal/renewal', '/state', '10.0.0.7', '29871', String(this.#afterSeconds)],
            exit: end,
            on: (signal: string, act: () => void) => {
              if (signal === 'SIGTERM') this.#terminate = act;
            },
          },
        }),
      ),
    );
  }

  /** It looks, as it does once a second. */
  look(): void {
    this.#run(this.#look);
  }

  /** Time passes, in which it looks once a second. */
  pass(seconds: number): void {
    for (let passed = 0; passed < seconds && this.exitCode === undefined; passed++) {
      this.seconds++;
      this.look();
    }
  }

  /** It stands still, as a machine that sleeps, and looks only afterwards. */
  sleep(seconds: number): void {
    this.seconds += seconds;
  }

  renew(text: string): void {
    this.files.set('/renewal/renewal', text);
  }

  answer(): number {
    let code = 0;
    const response = {
      writeHead(status: number) {
        code = status;
        return response;
      },
      end: () => undefined,
    };
    this.#run(() => this.#ask({}, response));
    return code;
  }

  isGateOpen(): boolean {
    return this.directories.has('/state/gate/open') && !this.files.has('/state/gate');
  }

  terminate(): number | undefined {
    this.#run(this.#terminate);
    return this.exitCode;
  }

  #run(act: () => void): void {
    try {
      act();
    } catch (error) {
      if (!(error instanceof Ended)) throw error;
    }
  }

  #fs(): object {
    return {
      readFileSync: (name: string) => {
        const text = this.files.get(name);
        if (text === undefined) throw new Error(`ENOENT: ${name}`);
        return text;
      },
      writeFileSync: (name: string, text: string) => this.files.set(name, text),
      renameSync: (from: string, to: string) => {
        this.files.set(to, this.files.get(from) ?? '');
        this.files.delete(from);
      },
      rmSync: (name: string) => {
        this.files.delete(name);
        for (const each of this.directories) if (each.startsWith(name)) this.directories.delete(each);
      },
      mkdirSync: (name: string) => this.directories.add(name),
    };
  }
}
class Ended extends Error {}
