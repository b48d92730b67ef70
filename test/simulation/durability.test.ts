import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Agent, request } from 'undici';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Random, seededRandom } from '../../shared/runtime/random.ts';
import { sleep, systemClock } from '../../shared/runtime/clock.ts';

/** How often the server is killed; SWITCHYARD_KILLS asks for more, SWITCHYARD_KILL_SEED for other moments. */
const KILLS = Number(process.env['SWITCHYARD_KILLS'] ?? 4);
const SEED = Number(process.env['SWITCHYARD_KILL_SEED'] ?? 1);
const WRITERS = 8;
const MAIN = path.resolve(import.meta.dirname, '../../shared/controlplane/main.ts');
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

let directory = '';
let server: Server | undefined;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'durability-'));
});
afterEach(async () => {
  await server?.end('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

type Answer = { readonly status: number; readonly text: string };
/** A control plane in a process of its own, with its objects in `directory`. */
class Server {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #connections = new Agent();
  #ending = false;

  private constructor(child: ChildProcess, kubeconfig: string) {
    this.#child = child;
    this.#exited = once(child, 'exit');
    this.#url = /server: (\S+)/.exec(kubeconfig)?.[1] ?? '';
    this.#headers = { authorization: `Bearer ${/token: (\S+)/.exec(kubeconfig)?.[1] ?? ''}` };
  }

  static async start(): Promise<Server> {
    const file = path.join(directory, 'kubeconfig');
    rmSync(file, { force: true });
    const flags = ['--kubeconfig-out', file, '--data-dir', path.join(directory, 'data'), '--plain', '--log-level', 'error'];
    const child = spawn(process.execPath, [MAIN, ...flags], { stdio: ['ignore', 'ignore', 'inherit'] });
    while (!existsSync(file) || readFileSync(file, 'utf8') === '') await sleep(systemClock, 20);
    return new Server(child, readFileSync(file, 'utf8'));
  }

  async call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', at: string, body?: object): Promise<Answer> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const answer = await request(this.#url + at, {
      method,
      dispatcher: this.#connections,
      headers: { ...this.#headers, 'content-type': type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  }

  /** Hands over the lines of a watch until the server is gone, or `enough` says so. */
  async watch(at: string, line: (event: WatchEvent) => void, enough: () => boolean = () => false): Promise<void> {
    const { body } = await request(this.#url + at, { dispatcher: this.#connections, headers: this.#headers });
    let rest = '';
    try {
      for await (const chunk of body) {
        const lines = (rest + String(chunk)).split('\n');
        rest = lines.pop() ?? '';
        for (const each of lines) line(JSON.parse(each) as WatchEvent);
        if (enough()) return;
      }
    } catch (error) {
      if (!this.#ending) throw error;
    }
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.#ending = true;
    this.#child.kill(signal);
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.#exited;
    await this.#connections.destroy();
  }
}

type WatchEvent = { readonly type: string; readonly object: { readonly metadata: Meta; readonly code?: number } };
type Meta = { readonly name: string; readonly resourceVersion: string };

/** What clients know of one object: the value last acknowledged (undefined: it is not there), and the one being written. */
type Known = { acknowledged: string | undefined; attempted: string | undefined; uncertain: boolean };
/** Everything that clients have been told. */
type Ledger = { readonly objects: Map<string, Known>; newest: number; acknowledged: number };

/** Creates, changes and deletes its own objects until the server is gone. */
async function writeUntilItEnds(to: Server, ledger: Ledger, writer: string, random: Random): Promise<void> {
  for (let count = 0; ; count++) {
    const name = `${writer}-${Math.floor(random() * 40)}`;
    const known = ledger.objects.get(name) ?? { acknowledged: undefined, attempted: undefined, uncertain: false };
    ledger.objects.set(name, known);
    const deletes = known.acknowledged !== undefined && random() < 0.2;
    const value = deletes ? undefined : `${writer}-${count}`;
    Object.assign(known, { attempted: value, uncertain: true });
    const answer = await write(to, name, known.acknowledged !== undefined, value);
    expect(answer.status, answer.text).toBeLessThan(300);
    Object.assign(known, { acknowledged: value, uncertain: false });
    ledger.acknowledged++;
    const { metadata } = JSON.parse(answer.text) as { metadata: Partial<Meta> };
    ledger.newest = Math.max(ledger.newest, Number(metadata.resourceVersion ?? 0));
  }
}

function write(to: Server, name: string, exists: boolean, value: string | undefined): Promise<Answer> {
  if (value === undefined) return to.call('DELETE', `${CONFIG_MAPS}/${name}`);
  const data = { value };
  return exists
    ? to.call('PATCH', `${CONFIG_MAPS}/${name}`, { data })
    : to.call('POST', CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
}

type List = {
  readonly metadata: Meta;
  readonly items: readonly { readonly metadata: Meta; readonly data?: { readonly value?: string } }[];
};
const listAll = async (from: Server): Promise<List> => JSON.parse((await from.call('GET', CONFIG_MAPS)).text) as List;

/** What the server says now is what was acknowledged, or what was being written when it was killed; from here on that is known. */
function compare({ objects }: Ledger, { items }: List): void {
  const found = new Map(items.map(({ metadata, data }) => [metadata.name, data?.value]));
  for (const [name, known] of objects) {
    const value = found.get(name);
    const possible = known.uncertain ? [known.acknowledged, known.attempted] : [known.acknowledged];
    expect(possible, `${name} after the kill`).toContain(value);
    Object.assign(known, { acknowledged: value, uncertain: false });
  }
}

test(`a server that is killed ${KILLS} times loses no write that it acknowledged or announced`, { timeout: KILLS * 20_000 }, async () => {
  const random = seededRandom(SEED);
  const ledger: Ledger = { objects: new Map(), newest: 0, acknowledged: 0 };
  for (let round = 0; round < KILLS; round++) {
    server = await Server.start();
    const running = server;
    const before = Number((await listAll(running)).metadata.resourceVersion);
    let announced = before;
    const watching = running.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${before}`, ({ object }) => {
      announced = Math.max(announced, Number(object.metadata.resourceVersion));
    });
    const target = ledger.acknowledged + 1 + Math.floor(random() * 800);
    const writers = Array.from({ length: WRITERS }, (_, writer) =>
      writeUntilItEnds(running, ledger, `w${writer}`, seededRandom(random() * 2 ** 31)),
    );
    const ended = Promise.allSettled(writers);
    while (ledger.acknowledged < target) await sleep(systemClock, 1);
    await sleep(systemClock, random() * 5);
    await running.end('SIGKILL');
    for (const writer of await ended)
      expect(String(writer.status === 'rejected' ? writer.reason : 'ended')).toMatch(/socket|closed|ECONN|destroyed/);
    await watching;

    server = await Server.start();
    const list = await listAll(server);
    compare(ledger, list);
    const now = Number(list.metadata.resourceVersion);
    expect(now).toBeGreaterThanOrEqual(Math.max(ledger.newest, announced));
    const created = await server.call('POST', CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `round-${round}` } });
    expect(Number((JSON.parse(created.text) as { metadata: Meta }).metadata.resourceVersion)).toBeGreaterThan(now);

    // A client that goes on where it was misses nothing: the watch continues from the newest version, and is refused from older ones.
    const seen: WatchEvent[] = [];
    await server.watch(
      `${CONFIG_MAPS}?watch=1&resourceVersion=${now}`,
      (event) => seen.push(event),
      () => seen.length > 0,
    );
    expect(seen).toMatchObject([{ type: 'ADDED', object: { metadata: { name: `round-${round}` } } }]);
    const refused: WatchEvent[] = [];
    await server.watch(
      `${CONFIG_MAPS}?watch=1&resourceVersion=${before}`,
      (event) => refused.push(event),
      () => refused.length > 0,
    );
    expect(refused).toMatchObject([{ type: 'ERROR', object: { code: 410 } }]);
    await server.end(random() < 0.5 ? 'SIGKILL' : 'SIGTERM');
  }
  expect(ledger.acknowledged).toBeGreaterThan(KILLS * 100);
});
