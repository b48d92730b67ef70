import type { ChildProgram } from '../../support/child-program.ts';

/** What a process keeps once its garbage is collected, in bytes. */
export type KeptMemory = { readonly resident: number; readonly heap: number };

/** Of a program that was started with this flag of Node's. */
export const INSPECTED = '--inspect=127.0.0.1:0';

/** Where it is asked: a line that it prints at its very beginning. */
export const inspectorOf = (program: ChildProgram): Promise<string> =>
  program.find((line) => /^Debugger listening on (ws:\S+)/.exec(line)?.[1]);

/** Asks V8 to collect all garbage, and then how much is kept: on the heap of JavaScript and beside it, and resident in all. */
export async function memoryKeptAt(url: string): Promise<KeptMemory> {
  const socket = new WebSocket(url);
  const answers = new Map<number, (result: unknown) => void>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id: number; result: unknown };
    answers.get(id)?.(result);
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve(), { once: true });
    socket.addEventListener('error', () => reject(new Error(`nobody answers at ${url}`)), { once: true });
  });
  let id = 0;
  const call = (method: string, params: object = {}): Promise<unknown> =>
    new Promise((resolve) => {
      answers.set(++id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
  // What the first collection makes unreachable goes with the second.
  for (let times = 0; times < 2; times++) await call('HeapProfiler.collectGarbage');
  const answer = (await call('Runtime.evaluate', { expression: 'process.memoryUsage()', returnByValue: true })) as {
    result: { value: { rss: number; heapUsed: number; external: number } };
  };
  socket.close();
  const { rss, heapUsed, external } = answer.result.value;
  return { resident: rss, heap: heapUsed + external };
}
