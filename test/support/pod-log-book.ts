/** What pods have written, as an API server tells it: for clusters whose pods are imagined. */
import type { Transport } from '../../shared/kube/transport.ts';
import type { Clock } from '../../shared/runtime/clock.ts';

export type PodLogBook = {
  /** The pod has written these lines now. */
  write(pod: string, ...lines: readonly string[]): void;
  /** Its container has ended: who follows has all of it. */
  end(pod: string): void;
  /** Connections break in the middle of a line. */
  breakOff(): void;
  /** How many connections are open now, and how many characters were taken from all of them. */
  readonly open: number;
  readonly taken: number;
  /** Paths of logs that were asked for. */
  readonly asked: readonly string[];
  /** The same server with these logs, for those whom it lets read them. */
  serve(transport: Transport): Transport;
};

type Log = { readonly lines: { readonly time: string; readonly text: string }[]; hasEnded: boolean };

export function createPodLogBook(clock: Clock): PodLogBook {
  const logs = new Map<string, Log>();
  const asked: string[] = [];
  let turn = Promise.withResolvers<void>();
  let breaks = 0;
  let open = 0;
  let taken = 0;
  const logOf = (pod: string): Log => {
    const log = logs.get(pod) ?? { lines: [], hasEnded: false };
    logs.set(pod, log);
    return log;
  };
  const turned = (): void => {
    turn.resolve();
    turn = Promise.withResolvers();
  };

  async function* read(log: Log, query: URLSearchParams, signal: AbortSignal | undefined): AsyncGenerator<string> {
    const since = query.get('sinceTime') ?? '';
    const tail = query.get('tailLines');
    const breaksBefore = breaks;
    const aborted = new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
    open++;
    try {
      let next = tail === null ? 0 : Math.max(0, log.lines.length - Number(tail));
      for (;;) {
        for (const { time, text } of log.lines.slice(next)) {
          next++;
          if (time.slice(0, since.length - 1) < since.slice(0, -1)) continue;
          const chunk = `${time} ${text}\n`;
          taken += chunk.length;
          if (breaks > breaksBefore) yield chunk.slice(0, -2);
          else yield chunk;
          if (breaks > breaksBefore) throw new Error('the connection broke');
        }
        if (signal?.aborted === true) throw signal.reason;
        if (breaks > breaksBefore) throw new Error('the connection broke');
        if (log.hasEnded || query.get('follow') !== 'true') return;
        await Promise.race([turn.promise, aborted]);
      }
    } finally {
      open--;
    }
  }

  return {
    write(pod, ...lines) {
      // As kubelets write it: with nanoseconds.
      const time = new Date(clock.now()).toISOString().replace('Z', '000000Z');
      logOf(pod).lines.push(...lines.map((text) => ({ time, text })));
      turned();
    },
    end(pod) {
      logOf(pod).hasEnded = true;
      turned();
    },
    breakOff() {
      breaks++;
      turned();
    },
    get open() {
      return open;
    },
    get taken() {
      return taken;
    },
    asked,
    serve: (transport) => ({
      send: (request) => transport.send(request),
      close: () => transport.close(),
      async stream(request) {
        const [, pod, query] = /\/pods\/([^/]+)\/log\?(.*)$/.exec(request.path) ?? [];
        const answer = await transport.stream(request);
        if (pod === undefined || answer.status !== 200) return answer;
        asked.push(request.path);
        return { ...answer, chunks: read(logOf(pod), new URLSearchParams(query), request.signal) };
      },
    }),
  };
}
