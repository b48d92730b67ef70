import type { JobResult } from '../../../shared/api/submission-outcome.ts';
import type { SubmissionProgress } from '../../../shared/api/submission-progress.ts';
import { systemClock, sleep } from '../../../shared/runtime/clock.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';
import { objectOf, refusal, UnknownCaller, type ManagerHttp } from '../server/manager-http.ts';
import { createEventReader } from './server-events.ts';
import type { CancelEnding, SubmissionEnding, SubmissionWay } from './way.ts';

const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 10_000;

type View = {
  readonly state: 'Delayed' | 'Accepted' | 'Completed' | 'Failed';
  readonly progress?: SubmissionProgress;
  readonly result?: JobResult;
  readonly failure?: { readonly code: string; readonly message: string };
};

/** By the manager’s HTTP API. Closes it in the end. */
export function submitByHttp(
  http: ManagerHttp,
  { namespace, queue }: { readonly namespace: string; readonly queue: string },
): SubmissionWay {
  const collection = `/apis/submissions/v1/namespaces/${encodeURIComponent(namespace)}/queues/${encodeURIComponent(queue)}/submissions`;
  const oneOf = (key: string): string => `${collection}/${encodeURIComponent(key)}`;

  /** One connection's worth of a stream: undefined when it ended before the submission did. */
  async function listen(key: string, seen: { lastId: string }, tell: (progress: SubmissionProgress) => void, signal: AbortSignal) {
    const headers = { accept: 'text/event-stream', ...(seen.lastId === '' ? {} : { 'last-event-id': seen.lastId }) };
    const response = await http.send('GET', `${oneOf(key)}/events`, { headers, signal });
    if (response.statusCode !== 200)
      throw refusal(http.server, { status: response.statusCode, body: objectOf(await response.body.text()) });
    const read = createEventReader();
    const decoder = new TextDecoder();
    for await (const piece of response.body) {
      for (const { id, event, data } of read(decoder.decode(piece as Uint8Array, { stream: true }))) {
        seen.lastId = id;
        const view = objectOf(data) as View;
        if (event === 'ended') return endingOf(view);
        if (view.progress !== undefined) tell(view.progress);
      }
    }
    return undefined;
  }

  return {
    async submit({ manifest, attachments }, key) {
      const payload = { manifest, ...(attachments.length === 0 ? {} : { attachments }) };
      const { body } = await http.answerTo('POST', key === undefined ? collection : oneOf(key), { body: payload });
      return String(body['key']);
    },
    async follow(key, tell, signal) {
      const seen = { lastId: '' };
      for (let retryMs = RETRY_MIN_MS; ; retryMs = Math.min(RETRY_MAX_MS, 2 * retryMs)) {
        const before = seen.lastId;
        try {
          const ending = await listen(key, seen, tell, signal);
          if (ending !== undefined) return ending;
        } catch (error) {
          // A refusal stands; a connection that is lost, or a server that has no time, comes back.
          if (signal.aborted || (error instanceof CommandError && error.exitCode !== ExitCode.Unreachable)) throw error;
          if (error instanceof UnknownCaller) throw error;
        }
        if (seen.lastId !== before) retryMs = RETRY_MIN_MS;
        await sleep(systemClock, retryMs, signal);
        signal.throwIfAborted();
      }
    },
    async cancel(key): Promise<CancelEnding> {
      const { status, body } = await http.answerTo('DELETE', oneOf(key));
      if (status === 202) return 'Pending';
      return body['cancelled'] === true ? 'Cancelled' : 'HadEnded';
    },
    close: () => http.close(),
  };
}

function endingOf({ result, failure }: View): SubmissionEnding {
  if (result !== undefined) return { kind: 'Completed', result };
  return { kind: 'Failed', code: failure?.code ?? 'Failed', message: failure?.message ?? 'it does not say why' };
}
