import type { Transport, TransportRequest, TransportResponse, TransportStream } from '../../../../shared/kube/transport.ts';

type Stored = {
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    resourceVersion: string;
    labels?: Record<string, string>;
    managedFields?: unknown[];
  };
};
type Change = { readonly version: number; readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: Stored };

/** One collection of one API server, scripted by a test: changes happen, watches break, history is forgotten. */
export class ScriptedApi implements Transport {
  readonly requests: string[] = [];
  readonly #objects = new Map<string, Stored>();
  #history: Change[] = [];
  #version = 100;
  #oldest = 0;
  #uids = 0;
  readonly #watches = new Set<Watch>();
  readonly #failures: (TransportResponse | Error)[] = [];
  #lists: (() => string | Promise<string>) | undefined;

  /** Creates or changes an object. */
  put(name: string, labels: Record<string, string> = {}): void {
    const known = this.#objects.get(name);
    const uid = known?.metadata.uid ?? `uid-${++this.#uids}`;
    const object = { metadata: { name, namespace: 'ns', uid, resourceVersion: String(++this.#version), labels, managedFields: [{}] } };
    this.#objects.set(name, object);
    this.#record({ version: this.#version, type: known === undefined ? 'ADDED' : 'MODIFIED', object });
  }

  remove(name: string): void {
    const known = this.#objects.get(name);
    if (known === undefined) throw new Error(`no object ${name}`);
    this.#objects.delete(name);
    const object = { metadata: { ...known.metadata, resourceVersion: String(++this.#version) } };
    this.#record({ version: this.#version, type: 'DELETED', object });
  }

  /** Something else on the server has changed. */
  touch(): void {
    this.#version++;
  }

  /** Sends a bookmark of the present version to all watches. */
  bookmark(): void {
    const event = { type: 'BOOKMARK', object: { metadata: { resourceVersion: String(++this.#version) } } };
    this.#tell(this.#version, `${JSON.stringify(event)}\n`);
  }

  /**
   * A backup: what is called restores it. The server is down for a moment meanwhile, so that watches break, or, left, hear nothing more.
   */
  backup(watches: 'Broken' | 'Left' = 'Broken'): () => void {
    const objects = new Map(this.#objects);
    const version = this.#version;
    return () => {
      this.#objects.clear();
      for (const [name, object] of objects) this.#objects.set(name, object);
      this.#version = version;
      this.#oldest = 0;
      this.#history = this.#history.filter((change) => change.version <= version);
      if (watches === 'Broken') this.cutWatches(new Error('connection reset'));
      else this.holdWatches();
    };
  }

  /** Nothing reaches the watches any more that there are now, and nobody is told. */
  holdWatches(): void {
    for (const watch of this.#watches) watch.held = true;
  }

  /** Forgets all changes up to now: a watch from before gets 410. */
  compact(): void {
    this.#history = [];
    this.#oldest = this.#version;
  }

  /** Sends raw text to all watches. */
  sendRaw(text: string): void {
    for (const watch of this.#watches) watch.push(text);
  }

  /** Cuts all watches, with an error or, without one, as a server that closes them. */
  cutWatches(error?: Error): void {
    for (const watch of this.#watches) watch.end(error);
    this.#watches.clear();
  }

  openWatches(): number {
    return this.#watches.size;
  }

  /** The next requests get these answers, one each. */
  failNext(...failures: (TransportResponse | Error)[]): void {
    this.#failures.push(...failures);
  }

  /** From now on lists have these bodies. */
  answerLists(answer: () => string | Promise<string>): void {
    this.#lists = answer;
  }

  names(): string[] {
    return [...this.#objects.keys()].sort();
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    this.requests.push(`${request.method} ${request.path}`);
    const failure = this.#failures.shift();
    if (failure instanceof Error) throw failure;
    if (failure !== undefined) return failure;
    if (this.#lists !== undefined) return { status: 200, headers: {}, body: await unlessAborted(this.#lists(), request.signal) };
    const query = new URL(request.path, 'http://test').searchParams;
    const offset = Number(query.get('continue') ?? 0);
    const limit = Number(query.get('limit') ?? Number.POSITIVE_INFINITY);
    const items = [...this.#objects.values()].slice(offset, offset + limit);
    const more = offset + limit < this.#objects.size;
    const metadata = { resourceVersion: String(this.#version), ...(more ? { continue: String(offset + limit) } : {}) };
    return { status: 200, headers: {}, body: JSON.stringify({ metadata, items }) };
  }

  async stream(request: TransportRequest): Promise<TransportStream> {
    this.requests.push(`WATCH ${request.path}`);
    const failure = this.#failures.shift();
    if (failure instanceof Error) throw failure;
    if (failure !== undefined) return { ...failure, chunks: textOnce(failure.body) };
    const from = Number(new URL(request.path, 'http://test').searchParams.get('resourceVersion'));
    const watch = new Watch(from, request.signal);
    if (from < this.#oldest) {
      watch.push(`${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } })}\n`);
      watch.end();
    } else {
      for (const change of this.#history) if (change.version > from) watch.push(line(change));
      this.#watches.add(watch);
    }
    return { status: 200, headers: {}, chunks: watch };
  }

  async close(): Promise<void> {
    this.cutWatches();
  }

  #record(change: Change): void {
    this.#history.push(change);
    this.#tell(change.version, line(change));
  }

  /** A watch from a version of the future waits for it in silence. */
  #tell(version: number, text: string): void {
    for (const watch of this.#watches) if (!watch.held && version > watch.from) watch.push(text);
  }
}

const unlessAborted = <T>(work: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> =>
  new Promise((resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
    Promise.resolve(work).then(resolve, reject);
  });

/** Whether a request asks only how far the server is. */
export const isQuestion = (request: string): boolean => /[?&]limit=1(&|$)/.test(request);

const line = ({ type, object }: Change): string => `${JSON.stringify({ type, object })}\n`;

async function* textOnce(text: string): AsyncGenerator<string> {
  yield text;
}

class Watch implements AsyncIterable<string> {
  held = false;
  readonly from: number;
  readonly #chunks: string[] = [];
  #ended: { error: Error | undefined } | undefined;
  #wake: () => void = () => undefined;

  constructor(from: number, signal: AbortSignal | undefined) {
    this.from = from;
    signal?.addEventListener('abort', () => this.end(new Error('aborted')), { once: true });
  }

  push(chunk: string): void {
    this.#chunks.push(chunk);
    this.#wake();
  }

  end(error?: Error): void {
    this.#ended ??= { error };
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) yield chunk;
      else if (this.#ended !== undefined) {
        if (this.#ended.error !== undefined) throw this.#ended.error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
