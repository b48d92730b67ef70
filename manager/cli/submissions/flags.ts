import { SUBMISSION_QUEUE, SUBMISSION_QUEUE_PREFIX } from '../../../shared/api/names.ts';
import { FlagError, text, type FlagTable, type FlagValues } from '../../../shared/runtime/flags.ts';
import { NO_SERVER, SERVER_FLAGS } from '../server/flags.ts';
import { redisUrl } from '../../config/redis-flags.ts';

/** Of commands that speak to a queue of submissions instead of to the API server. */
export const SUBMISSION_FLAGS = {
  key: {
    short: 'k',
    value: 'KEY',
    about: 'identifies the submission permanently: the same key again is the same submission',
    parse: text,
  },
  'submission-queue': { value: 'NAME', about: `queue of submissions; default for Redis: ${SUBMISSION_QUEUE}`, parse: text },
  ...SERVER_FLAGS,
  'redis-url': { value: 'URL', about: 'Redis that carries submissions, such as redis://localhost:6379', parse: redisUrl },
  'redis-url-file': { value: 'FILE', about: 'file whose one line is that URL, instead of --redis-url', parse: text },
  'redis-prefix': {
    value: 'PREFIX',
    fallback: SUBMISSION_QUEUE_PREFIX,
    about: 'BullMQ’s key prefix; that of a SubmissionQueue is switchyard:tenant:NAMESPACE unless it says otherwise',
    parse: text,
  },
} satisfies FlagTable;

/** By which way a queue of submissions is spoken to. */
export type WayChoice =
  | { readonly via: 'redis'; readonly url: string | { readonly file: string }; readonly prefix: string; readonly queue: string }
  | {
      readonly via: 'http';
      /** Undefined: the one that the cluster names. */
      readonly server: string | undefined;
      readonly caFile: string | undefined;
      readonly tokenFile: string | undefined;
      readonly queue: string;
    };

/** Throws {@link FlagError} for what the way needs and was not given. `via` undefined: by that of which the address was given. */
export function wayChoice(values: FlagValues<typeof SUBMISSION_FLAGS>, via: 'redis' | 'http' | undefined): WayChoice {
  const { server, 'redis-url': given, 'redis-url-file': file, 'submission-queue': queue } = values;
  if (given !== undefined && file !== undefined)
    throw new FlagError('--redis-url and --redis-url-file exclude one another, as variables (SWITCHYARD_REDIS_URL), too: give one of them');
  const url = file === undefined ? given : { file };
  const way = via ?? (server !== undefined ? 'http' : url !== undefined ? 'redis' : undefined);
  switch (way) {
    case 'http':
      if (server === NO_SERVER) throw new FlagError(`--server ${NO_SERVER}: --via http needs a manager; write its address`);
      if (queue === undefined) throw new FlagError('--submission-queue: is missing; write the name of a SubmissionQueue of the namespace');
      return { via: 'http', server, caFile: values['server-ca'], tokenFile: values['token-file'], queue };
    case 'redis':
      if (url === undefined)
        throw new FlagError('--redis-url: is missing; write that of the Redis that carries submissions, or --redis-url-file');
      return { via: 'redis', url, prefix: values['redis-prefix'], queue: queue ?? SUBMISSION_QUEUE };
    default:
      throw new FlagError('--key: which queue is meant? Write --server URL for the manager’s HTTP API, or --redis-url URL');
  }
}
