import type { Clock } from '../../shared/runtime/clock.ts';
import type { RedisConnection } from './redis-connection.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { CallerSignature } from '../../shared/api/submission-signature.ts';
import { connect, type Client, type SubmissionView } from '../../shared/client/client.ts';
import { bullmqJobOf } from '../../shared/client/payload.ts';
import { Conflict, errorOf, Failed, Invalid, SubmissionError, TimedOut } from '../../shared/client/submission-errors.ts';
import { SubmissionProblem, type SubmissionState, type SubmissionPort } from '../api/submission-port.ts';
import type { Tenant } from './tenant.ts';

/** Of many clients that ask for one thing each. Redis that does not answer must not make them wait for ever. */
const ANSWER_MS = 10_000;

/** Says beside the data of a submission which user submitted it, and beside a request to cancel one who cancels it. */
export type SignCaller = {
  readonly submitted: (key: string, data: object, user: string) => Promise<CallerSignature>;
  readonly cancelled: (key: string, submittedAt: number, user: string) => Promise<CallerSignature>;
};

/** The door of a tenant: a client of its queue as any other, on a connection that the caller closes. */
export function openSubmissionPort(
  { redis: { prefix, queue } }: Tenant,
  redis: RedisConnection,
  clock: Clock,
  sign?: SignCaller,
): SubmissionPort & { close(): Promise<void> } {
  const client = connect({ redis, prefix, queue });
  const soon = <T>(answer: Promise<T>): Promise<T> => answered(answer, clock);
  return {
    async submit({ manifest, ...options }, wanted, user) {
      const key = wanted ?? crypto.randomUUID();
      const before = wanted === undefined ? undefined : await soon(client.look(key));
      const signature = user === undefined ? undefined : await sign?.submitted(key, bullmqJobOf(manifest, key, options).data, user);
      await soon(client.submit(manifest, { ...options, key, ...omitUndefined({ signature }) })).catch(refuse);
      return { key, isNew: before === undefined };
    },
    async look(key) {
      const seen = await soon(client.look(key));
      return seen && viewOf(seen);
    },
    async cancel(key, user) {
      const seen = user === undefined ? undefined : await soon(client.look(key));
      const signature = user === undefined || seen === undefined ? undefined : await sign?.cancelled(key, seen.submittedAt, user);
      return client.cancel(key, { timeout: ANSWER_MS, ...omitUndefined({ signature }) }).catch(refuse);
    },
    follow: (key, signal) => follow(client, key, signal),
    close: () => client.close(),
  };
}

async function* follow(client: Client, key: string, signal: AbortSignal): AsyncGenerator<SubmissionState> {
  const now = await client.look(key);
  if (now === undefined) return;
  yield viewOf(now);
  if (now.state === 'Completed' || now.state === 'Failed') return;
  const base = { key, submittedAt: new Date(now.submittedAt).toISOString() };
  const changes = client.progress(key)[Symbol.asyncIterator]();
  const left = Promise.withResolvers<undefined>();
  const leave = (): void => left.resolve(undefined);
  signal.addEventListener('abort', leave, { once: true });
  try {
    for (;;) {
      const change = await Promise.race([changes.next(), left.promise]);
      if (change === undefined) return;
      if (change.done === true) break;
      yield { ...base, state: 'Accepted', progress: change.value };
    }
    const last = await client.look(key);
    yield last === undefined
      ? { ...base, state: 'Failed', failure: { code: 'Cancelled', message: 'the submission was removed from the queue' } }
      : viewOf(last);
  } finally {
    signal.removeEventListener('abort', leave);
    // It may wait for a change that never comes: it ends with the next one.
    void changes.return?.(undefined);
  }
}

function viewOf(seen: SubmissionView): SubmissionState {
  const { key, submittedAt, progress, state } = seen;
  const base = { key, submittedAt: new Date(submittedAt).toISOString(), state, ...omitUndefined({ progress }) };
  if (seen.state === 'Completed') return { ...base, result: seen.result };
  if (seen.state !== 'Failed') return base;
  const error = errorOf(key, seen.failedReason);
  const code = error instanceof Failed ? error.reason : error.code;
  return { ...base, failure: { code, message: error.message.replace(`${code}: `, '') } };
}

function refuse(error: unknown): never {
  if (error instanceof Invalid || error instanceof Conflict || error instanceof TimedOut)
    throw new SubmissionProblem(error.code as SubmissionProblem['code'], error.message, { cause: error });
  throw error instanceof SubmissionError ? new SubmissionProblem('Invalid', error.message, { cause: error }) : error;
}

/** Commands wait for the connection for as long as it takes; people do not. */
async function answered<T>(answer: Promise<T>, clock: Clock): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = clock.schedule(() => late.reject(new Error(`Redis has not answered within ${ANSWER_MS} ms`)), ANSWER_MS);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    timer.cancel();
  }
}
