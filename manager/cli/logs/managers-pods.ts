import type { DeepReadonly, Job, Pod } from '../../../shared/api/kubernetes.ts';
import { JOB_COMPLETION_INDEX } from '../../../shared/api/names.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { sleep, systemClock } from '../../../shared/runtime/clock.ts';
import { workPath } from '../../work-kind/qualified-name.ts';
import type { ClusterConnection } from '../cluster-connection.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';
import { plain } from '../plain-text.ts';
import type { ServerChoice } from '../server/flags.ts';
import { managerOf } from '../server/with-manager.ts';
import { objectOf, refusal, UnknownCaller, type ManagerHttp } from '../server/manager-http.ts';
import { createEventReader } from '../submissions/server-events.ts';
import type { FollowedPods } from './follow-pods.ts';
import { isChosenPod, type PodChoice } from './log-lines.ts';
import type { LogSink } from './print-pod-log.ts';

export type ManagersPods = PodChoice & {
  readonly sink: LogSink;
  readonly signal: AbortSignal;
  /** Hears why it does not work (any more). */
  readonly onTrouble: (error: unknown) => void;
};

/** The manager tells of pods when it is asked. */
const LOOK_AGAIN_MS = 2_000;
const RETRY_MS = 1_000;

type SeenPod = { readonly pod: string; readonly phase: string; readonly index?: number };

/**
 * Prints the logs of a Job's pods by the manager, which reads them on the worker cluster for users who may read logs in the namespace of
 * the Job. `open` connects to the manager, or throws why it cannot.
 */
export function followByManager(
  open: () => Promise<ManagerHttp>,
  { metadata }: DeepReadonly<Job>,
  { sink, signal, onTrouble, ...choice }: ManagersPods,
): FollowedPods {
  const path = `/api/v1/${workPath(metadata)}/pods`;
  const [noMore, over] = [new AbortController(), new AbortController()];
  const unended = AbortSignal.any([signal, over.signal]);
  const stopping = AbortSignal.any([signal, noMore.signal]);
  const begun = new Set<string>();
  const printing = new Set<Promise<void>>();
  let count = 0;

  async function look(manager: ManagerHttp): Promise<void> {
    const { body } = await manager.answerTo('GET', path);
    for (const seen of (body as { readonly pods: readonly SeenPod[] }).pods) {
      const pod = podOf(seen);
      if (begun.has(seen.pod) || seen.phase === 'Pending' || !isChosenPod(pod, choice)) continue;
      begun.add(seen.pod);
      const printed = print(manager, pod, { path, sink, unended }).then(() => void count++, onTrouble);
      printing.add(printed);
      void printed.finally(() => printing.delete(printed));
    }
  }

  const opened = open();
  const following = (async (): Promise<void> => {
    const manager = await opened;
    while (!stopping.aborted) {
      await look(manager);
      await sleep(systemClock, LOOK_AGAIN_MS, stopping);
    }
  })().catch((error: unknown) => {
    if (!stopping.aborted) onTrouble(error);
  });
  return {
    get count() {
      return count;
    },
    async end(withinMs) {
      const timer = setTimeout(() => over.abort(), withinMs);
      noMore.abort();
      await following;
      await Promise.all(printing);
      clearTimeout(timer);
      await opened.then(
        (manager) => manager.close(),
        () => undefined,
      );
    },
  };
}

/** `path`: of the pods of the Job; `unended` aborts when nothing more is to be read. */
type Printing = { readonly path: string; readonly sink: LogSink; readonly unended: AbortSignal };

/** After an interruption the log goes on behind the last event. */
async function print(manager: ManagerHttp, pod: DeepReadonly<Pod>, { path, sink, unended }: Printing): Promise<void> {
  let lastId = '';
  for (;;) {
    try {
      const headers = { accept: 'text/event-stream', ...(lastId === '' ? {} : { 'last-event-id': lastId }) };
      const log = `${path}/${encodeURIComponent(pod.metadata.name)}/log`;
      const response = await manager.send('GET', log, { query: { follow: '1' }, headers, signal: unended });
      if (response.statusCode !== 200) {
        const body = objectOf(await response.body.text());
        throw refusal(manager.server, { status: response.statusCode, body });
      }
      const read = createEventReader();
      const decoder = new TextDecoder();
      for await (const piece of response.body) {
        for (const { id, event, data } of read(decoder.decode(piece as Uint8Array, { stream: true }))) {
          lastId = id;
          const { text, message } = objectOf(data);
          if (event === 'end') return;
          if (event === 'problem') {
            await sink.say(`${plain(pod.metadata.name)}: ${plain(String(message))}`);
            return;
          }
          await sink.write(String(text), pod);
        }
      }
    } catch (error) {
      if (unended.aborted) return;
      // A refusal stands; a connection that is lost comes back.
      const isRefused = error instanceof CommandError && (error.exitCode !== ExitCode.Unreachable || error instanceof UnknownCaller);
      if (isRefused) throw error;
    }
    await sleep(systemClock, RETRY_MS, unended);
    if (unended.aborted) return;
  }
}

/** As much of a pod as is printed of it. */
const podOf = ({ pod, phase, index }: SeenPod): DeepReadonly<Pod> =>
  ({
    metadata: { name: pod, ...omitUndefined({ annotations: index === undefined ? undefined : { [JOB_COMPLETION_INDEX]: String(index) } }) },
    status: { phase },
  }) as unknown as DeepReadonly<Pod>;

/** For createJobLogs: by the manager that the flags or the cluster name. Where there is none, the first trouble stands. */
export const otherwiseByManager =
  (choice: ServerChoice, connection: Pick<ClusterConnection, 'client' | 'credentials'>) =>
  (job: DeepReadonly<Job>, pods: ManagersPods, why: CommandError): FollowedPods =>
    followByManager(
      async () => {
        const manager = await managerOf(choice, connection);
        if ('why' in manager) throw new CommandError(`${why.message}; ${manager.why}`, why.exitCode, { cause: why });
        return manager;
      },
      job,
      pods,
    );
