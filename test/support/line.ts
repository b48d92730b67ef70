import type { Transport, TransportRequest } from '../../shared/kube/transport.ts';

/** The way of one program to API servers: what it sent, and whether anything still gets through. */
export type Line = {
  /** Every request that reached a server, oldest first. */
  readonly sent: SentRequest[];
  /** Messages of all 403 answers. */
  readonly refused: string[];
  /** Those of all 422 answers. */
  readonly invalid: string[];
  isCut: boolean;
  /** Calls, watches left out, until the line is cut: the last one is carried out, but its answer is lost. */
  callsLeft: number | undefined;
  cut(): void;
  /** Nothing reaches the watches any more that there are now, and nobody is told. */
  holdWatches(): void;
  readonly onHold: Set<() => void>;
  readonly onCut: Set<() => void>;
};
export type SentRequest = { readonly cluster: string; readonly verb: string; readonly resource: string; readonly path: string };

export const createLine = (options: Partial<Pick<Line, 'callsLeft'>> = {}): Line => {
  const line: Line = {
    sent: [],
    refused: [],
    invalid: [],
    isCut: false,
    callsLeft: options.callsLeft,
    cut() {
      line.isCut = true;
      for (const each of line.onCut) each();
    },
    onCut: new Set(),
    holdWatches() {
      for (const hold of line.onHold) hold();
    },
    onHold: new Set(),
  };
  return line;
};

/** Sends requests along a line. On a line that is cut they hang, as those of a dead process would. */
export function onLine(transport: Transport, line: Line, cluster: string): Transport {
  const gate = async (request: TransportRequest): Promise<void> => {
    request.signal?.throwIfAborted();
    if (line.isCut) await forEver(request.signal);
    line.sent.push({ cluster, path: `${request.method} ${request.path.split('?')[0]}`, ...attributesOf(request) });
  };
  return {
    async send(request) {
      await gate(request);
      const isLast = line.callsLeft !== undefined && --line.callsLeft <= 0;
      const answer = await transport.send(request);
      if (isLast) line.cut();
      if (line.isCut) await forEver(request.signal);
      if (answer.status === 403) line.refused.push(answer.body);
      if (answer.status === 422) line.invalid.push(answer.body);
      return answer;
    },
    async stream(request) {
      await gate(request);
      const broken = new AbortController();
      const breakOff = (): void => broken.abort(new Error('the line is cut'));
      line.onCut.add(breakOff);
      const signal = request.signal === undefined ? broken.signal : AbortSignal.any([request.signal, broken.signal]);
      const answer = await transport.stream({ ...request, signal });
      if (answer.status === 403) line.refused.push(request.path);
      return { ...answer, chunks: untilHeld(answer.chunks, line, signal) };
    },
    close: () => transport.close(),
  };
}

async function* untilHeld(chunks: AsyncIterable<string>, line: Line, signal: AbortSignal): AsyncGenerator<string> {
  let held = false;
  const hold = (): void => void (held = true);
  line.onHold.add(hold);
  try {
    for await (const chunk of chunks) {
      if (held) await forEver(signal);
      yield chunk;
    }
  } finally {
    line.onHold.delete(hold);
  }
}

const forEver = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }));

/** A request as RBAC sees it: `{ verb: 'patch', resource: 'batch/jobs/status' }`. */
function attributesOf({ method, path }: TransportRequest): { verb: string; resource: string } {
  const url = new URL(path, 'http://server');
  const [root, ...rest] = url.pathname.slice(1).split('/');
  if (root !== 'api' && root !== 'apis') return { verb: method.toLowerCase(), resource: url.pathname };
  const group = root === 'api' ? '' : `${rest.shift()}/`;
  rest.shift(); // the version
  if (rest[0] === 'namespaces' && rest.length > 2) rest.splice(0, 2);
  const [plural, name, subresource] = rest;
  const resource = `${group}${plural}${subresource === undefined ? '' : `/${subresource}`}`;
  const reading = name === undefined ? (url.searchParams.get('watch') === 'true' ? 'watch' : 'list') : 'get';
  const verbs: Record<TransportRequest['method'], string> = {
    GET: reading,
    POST: 'create',
    PUT: 'update',
    PATCH: 'patch',
    DELETE: 'delete',
  };
  return { verb: verbs[method], resource };
}
