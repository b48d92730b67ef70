import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { failureMessage } from '../../api/last-failure.ts';
import { withHistory } from '../history-store.ts';
import { plain } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { isChosenEnd, lastLines, printed, type PodChoice } from './log-lines.ts';
import { jsonLines, type LogForm } from './log-sink.ts';

export type KeptJob = { readonly namespace: string; readonly name: string; readonly uid: string | undefined };
export type KeptChoice = PodChoice & { readonly tail: number | undefined; readonly form: LogForm; readonly tellsFailures: boolean };

/**
 * Prints the ends of logs that the manager has kept, and on standard error what pods failed with. Resolves with how many; undefined:
 * nothing is known of such a Job.
 */
export const printKeptLogs = (
  store: string,
  { namespace, name, uid }: KeptJob,
  { tail, form, tellsFailures, ...choice }: KeptChoice,
  session: Session,
): Promise<number | undefined> =>
  withHistory(store, session, async (history) => {
    const [record] = await history.query({ namespace, name, limit: 1, ...omitUndefined({ uid }) });
    if (record === undefined) return undefined;
    const chosen = (await history.podsOf(record.uid)).flatMap((copy) =>
      copy.pods.filter((pod) => isChosenEnd(pod, choice)).map((pod) => ({ copy, pod })),
    );
    const kept = chosen.filter(({ pod }) => pod.tail === true);
    for (const { copy, pod } of kept) {
      const text = lastLines((await history.tail(record.uid, copy.copyUid, pod.pod)) ?? '', tail);
      if (text === '') continue;
      const asText = (): string => printed(text, kept.length > 1 ? pod.pod : undefined);
      await session.output.write(form === 'json' ? jsonLines(text, pod.pod, pod.index) : asText());
    }
    for (const { copy, pod } of tellsFailures ? chosen : [])
      if (pod.phase === 'Failed') await session.errors.write(`${plain(failureMessage({ ...pod, cluster: copy.cluster }))}\n`);
    return kept.length;
  });
