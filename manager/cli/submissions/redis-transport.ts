import { connect } from '../../../shared/client/client.ts';
import { Failed, SubmissionError, TimedOut } from '../../../shared/client/submission-errors.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { CommandError } from '../command-error.ts';
import { readRedisUrl } from '../../config/read-redis-settings.ts';
import { ExitCode } from '../exit-codes.ts';
import type { WayChoice } from './flags.ts';
import type { CancelEnding, SubmissionEnding, SubmissionWay } from './way.ts';

/** Commands wait for a connection for as long as it takes; people do not. */
const ANSWER_MS = 10_000;
const CANCEL_MS = 30_000;

/** Straight to the queue, as any BullMQ client. Throws FlagError for a file of the URL that cannot be used. */
export function connectByRedis({ url: choice, prefix, queue }: Extract<WayChoice, { via: 'redis' }>): SubmissionWay {
  const url = typeof choice === 'string' ? choice : readRedisUrl(choice.file);
  const client = connect({ redis: url, prefix, queue });
  // Without the password.
  const { host } = new URL(url);
  const away = (): CommandError =>
    new CommandError(`Redis at ${host} does not answer; look at its URL (--redis-url), and whether it is up`, ExitCode.Unreachable);

  async function soon<T>(answer: Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(away()), ANSWER_MS);
    try {
      return await Promise.race([answer, late.promise]);
    } catch (error) {
      throw error instanceof SubmissionError ? new CommandError(`--key: ${error.message}`, ExitCode.Failed, { cause: error }) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    submit: ({ manifest, attachments }, key) => soon(client.submit(manifest, { attachments, ...omitUndefined({ key }) })),
    async follow(key, tell, signal) {
      const stop = new AbortController();
      const changes = client.progress(key)[Symbol.asyncIterator]();
      const telling = async (): Promise<void> => {
        for (let next = await changes.next(); next.done !== true && !stop.signal.aborted; next = await changes.next()) tell(next.value);
      };
      const told = telling();
      try {
        const ending = await client.wait(key, { signal }).then((result) => ({ kind: 'Completed', result }) as const, endingOf);
        await told;
        return ending;
      } finally {
        stop.abort();
        // It may wait for a change that never comes, until the client is closed.
        told.catch(() => stop.abort());
      }
    },
    async cancel(key): Promise<CancelEnding> {
      try {
        const { cancelled, state } = await client.cancel(key, { timeout: CANCEL_MS });
        if (state === 'unknown') throw new CommandError(`the queue does not know a submission ${key}, or not any more`);
        return cancelled ? 'Cancelled' : 'HadEnded';
      } catch (error) {
        if (error instanceof TimedOut) return 'Pending';
        throw error;
      }
    },
    close: () => client.close(),
  };
}

/** Whatever is no ending of a submission is thrown on. */
function endingOf(error: unknown): SubmissionEnding {
  if (!(error instanceof SubmissionError)) throw error;
  const code = error instanceof Failed ? error.reason : error.code;
  return { kind: 'Failed', code, message: error.message.replace(`${code}: `, '') };
}
