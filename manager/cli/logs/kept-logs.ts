import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { failureMessage } from '../../api/last-failure.ts';
import { withHistory } from '../history-store.ts';
import type { HistoryPods } from '../../history/history-record.ts';
import { parseQualifiedName, workPath } from '../../work-kind/qualified-name.ts';
import { plain } from '../plain-text.ts';
import { NotThere, type Answer, type ManagerHttp } from '../server/manager-http.ts';
import type { Session } from '../session.ts';
import { isChosenEnd, lastLines, printed, type PodChoice } from './log-lines.ts';
import { jsonLines, type LogForm } from './log-sink.ts';

export type KeptJob = { readonly namespace: string; readonly name: string; readonly uid: string | undefined };
export type KeptChoice = PodChoice & { readonly tail: number | undefined; readonly form: LogForm; readonly tellsFailures: boolean };

/** Where the ends of logs are kept. */
export type KeptLogs = {
  /** The last Job of the name, or that of the UID, with the ends of its pods; undefined: nothing is known of such a Job. */
  job(key: KeptJob): Promise<{ readonly uid: string; readonly copies: readonly HistoryPods[] } | undefined>;
  tail(uid: string, copyUid: string, pod: string): Promise<string | undefined>;
};

/**
 * Prints the ends of logs that the manager has kept, and on standard error what pods failed with. Resolves with how many; undefined:
 * nothing is known of such a Job.
 */
export async function printKept(
  kept: KeptLogs,
  key: KeptJob,
  { tail, form, tellsFailures, ...choice }: KeptChoice,
  session: Session,
): Promise<number | undefined> {
  const job = await kept.job(key);
  if (job === undefined) return undefined;
  const chosen = job.copies.flatMap((copy) => copy.pods.filter((pod) => isChosenEnd(pod, choice)).map((pod) => ({ copy, pod })));
  const withLog = chosen.filter(({ pod }) => pod.tail === true);
  for (const { copy, pod } of withLog) {
    const text = lastLines((await kept.tail(job.uid, copy.copyUid, pod.pod)) ?? '', tail);
    if (text === '') continue;
    const asText = (): string => printed(text, withLog.length > 1 ? pod.pod : undefined);
    await session.output.write(form === 'json' ? jsonLines(text, pod.pod, pod.index) : asText());
  }
  for (const { copy, pod } of tellsFailures ? chosen : [])
    if (pod.phase === 'Failed') await session.errors.write(`${plain(failureMessage({ ...pod, cluster: copy.cluster }))}\n`);
  return withLog.length;
}

/** The same from a store. */
export const printKeptLogs = (store: string, key: KeptJob, choice: KeptChoice, session: Session): Promise<number | undefined> =>
  withHistory(store, session, (history) =>
    printKept(
      {
        async job({ namespace, name: qualified, uid }) {
          const { qualifier: resource = 'jobs', name } = parseQualifiedName(qualified);
          const [record] = await history.query({ namespace, name, resource, limit: 1, ...omitUndefined({ uid }) });
          return record && { uid: record.uid, copies: await history.podsOf(record.uid) };
        },
        tail: (uid, copyUid, pod) => history.tail(uid, copyUid, pod),
      },
      key,
      choice,
      session,
    ),
  );

/** The same by the manager, which keeps the last Job of a name at hand. */
export function printManagersLogs(manager: ManagerHttp, key: KeptJob, choice: KeptChoice, session: Session): Promise<number | undefined> {
  const path = `/apis/history/v1/${workPath(key)}`;
  return printKept(
    {
      async job({ uid }) {
        const body = await unlessMissing(manager.answerTo('GET', path));
        const job = body as { readonly uid: string; readonly copies: readonly HistoryPods[] } | undefined;
        return uid === undefined || job?.uid === uid ? job : undefined;
      },
      async tail(_uid, _copyUid, pod) {
        const body = await unlessMissing(manager.answerTo('GET', `${path}/pods/${encodeURIComponent(pod)}/log`));
        return body === undefined ? undefined : String(body['log']);
      },
    },
    key,
    choice,
    session,
  );
}

async function unlessMissing(answer: Promise<Answer>): Promise<Answer['body'] | undefined> {
  try {
    return (await answer).body;
  } catch (error) {
    if (error instanceof NotThere) return undefined;
    throw error;
  }
}
