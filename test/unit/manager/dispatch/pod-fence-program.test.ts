/** Goal: the very text that runs in the pods answers only while renewals that are certain to be recent arrive, whatever is late, old, or started anew. */
import { Script, createContext } from 'node:vm';
import path from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { POD_FENCE_PROGRAM } from '../../../../manager/dispatch/pod-fence-program.ts';

const SECONDS = 120;
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** A pod on a node: files, the time since the node was booted, and the sidecar that runs. */
class Node {
  readonly files = new Map<string, string>([[BOOT_ID, 'boot-1\n']]);
  readonly directories = new Set<string>(['/state']);
  seconds = 5_000;
  exitCode: number | undefined;
  #look: () => void = () => {};
  #terminate: () => void = () => {};
  #ask: (request: object, response: object) => void = () => {};

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
      'node:http': {
        createServer: (ask: (request: object, response: object) => void) => {
          this.#ask = ask;
          return { listen: (port: number, address: string) => expect([port, address]).toEqual([29_871, '10.0.0.7']) };
        },
      },
    };
    this.#run(() =>
      new Script(POD_FENCE_PROGRAM).runInContext(
        createContext({
          require: (name: string) => modules[name],
          process: {
            argv: ['node', '/renewal/renewal', '/state', '10.0.0.7', '29871', String(SECONDS)],
            exit: end,
            on: (signal: string, act: () => void) => {
              expect(signal).toBe('SIGTERM');
              this.#terminate = act;
            },
          },
          setInterval: (look: () => void, everyMs: number) => {
            expect(everyMs).toBe(1_000);
            this.#look = look;
          },
        }),
      ),
    );
  }

  /** Time passes, in which it looks once a second. */
  pass(seconds: number): void {
    for (let passed = 0; passed < seconds && this.exitCode === undefined; passed++) {
      this.seconds++;
      this.#run(this.#look);
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

let node: Node;
beforeEach(() => {
  node = new Node();
  node.start();
});

test('until the first renewal it answers no, and no container may be made; with it both change', () => {
  node.pass(60);
  expect([node.answer(), node.isGateOpen()]).toEqual([503, false]);
  node.renew('0/a');
  node.pass(1);
  expect([node.answer(), node.isGateOpen()]).toEqual([200, true]);
});

test('while renewals come it goes on, for days; the same one counts once', () => {
  for (let each = 0; each < 500; each++) {
    node.renew(`0/${each}`);
    node.pass(24);
  }
  expect(node.answer()).toBe(200);
  node.pass(97);
  expect(node.answer()).toBe(200);
  node.pass(1);
  expect([node.answer(), node.isGateOpen()]).toEqual([503, false]);
});

test('once it has seen none for too long that is final: one that is late changes nothing, nor does a start anew', () => {
  node.renew('0/a');
  node.pass(122);
  node.renew('0/b');
  node.pass(1);
  expect(node.answer()).toBe(503);
  node.start();
  node.renew('1/c');
  node.pass(1);
  expect([node.answer(), node.isGateOpen()]).toEqual([503, false]);
  expect(node.terminate()).toBe(75);
});

test('a renewal that it finds after it has stood still for too long is not counted', () => {
  node.renew('0/a');
  node.pass(1);
  node.sleep(SECONDS + 1);
  node.renew('0/b');
  expect(node.answer()).toBe(503);
});

test('a pod that ends in its own time leaves no sign of having been cut off', () => {
  node.renew('0/a');
  node.pass(1);
  expect(node.terminate()).toBe(0);
});

test('killed and started again it goes on where it was: the time in which it did not run counts', () => {
  node.renew('0/a');
  node.pass(1);
  node.sleep(60);
  node.start();
  expect([node.answer(), node.isGateOpen()]).toEqual([200, true]);
  node.pass(60);
  expect(node.answer()).toBe(200);
  node.pass(1);
  expect(node.answer()).toBe(503);
});

test('a renewal for another start of it is none, until it has begun: it may have been written before this one', () => {
  node.pass(SECONDS + 1);
  // Nobody has renewed it in time, so that what comes now may be old: it ends, and begins anew.
  expect(node.exitCode).toBe(1);
  node.renew('0/late');
  node.start();
  node.pass(1);
  node.renew('0/later');
  node.pass(1);
  expect([node.answer(), node.isGateOpen()]).toEqual([503, false]);
  node.renew('1/a');
  node.pass(1);
  expect(node.answer()).toBe(200);
});

test('what stood there when it started is no renewal', () => {
  node = new Node();
  node.renew('0/a');
  node.start();
  node.pass(30);
  expect(node.answer()).toBe(503);
});

test('after the node was booted nothing is left of what it had seen', () => {
  node.renew('0/a');
  node.pass(1);
  node.files.set(BOOT_ID, 'boot-2\n');
  node.seconds = 40;
  node.start();
  expect([node.answer(), node.isGateOpen()]).toEqual([503, false]);
  node.renew('1/b');
  node.pass(1);
  expect(node.answer()).toBe(200);
});
