import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as it came over the wire. */
export type ReceivedSpan = {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly error?: string;
};

export type CollectorAnswer =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | 'Never';

/** A collector that takes traces over OTLP/JSON on a port of this machine. */
export interface TraceCollector {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly spans: number }[];
  /** Given to requests in turn; without any, all is taken. */
  readonly answers: CollectorAnswer[];
  close(): Promise<void>;
}

type Attribute = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };
type Wire = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
};
type WireSpan = Omit<ReceivedSpan, 'attributes' | 'service' | 'startMs' | 'endMs'> & {
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status?: { readonly code?: number; readonly message?: string };
};

export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: ReceivedSpan[] = [];
  const requests: TraceCollector['requests'] = [];
  const answers: CollectorAnswer[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const received = spansIn(JSON.parse(Buffer.concat(chunks).toString('utf8')) as Wire);
      requests.push({ path: request.url ?? '', headers: request.headers, spans: received.length });
      const answer = answers.shift() ?? { status: 200, body: '{}' };
      if (answer === 'Never') return;
      if (answer.status === 200) spans.push(...received);
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(answer.body ?? '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, spans, requests, answers, close: () => closed(server) };
}

const spansIn = ({ resourceSpans }: Wire): readonly ReceivedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const { 'service.name': service } = read(resource.attributes);
    return scopeSpans.flatMap((scope) =>
      scope.spans.map(({ startTimeUnixNano, endTimeUnixNano, attributes, status, ...span }) => ({
        ...span,
        service: String(service),
        startMs: Number(BigInt(startTimeUnixNano) / 1_000_000n),
        endMs: Number(BigInt(endTimeUnixNano) / 1_000_000n),
        attributes: read(attributes),
        ...(status?.code === 2 ? { error: status.message ?? '' } : {}),
      })),
    );
  });

const read = (attributes: readonly Attribute[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
