import { isForbidden } from '../../../shared/kube/api-error.ts';
import { keyOfObject } from '../../../shared/kube/keys.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { LOCAL_QUEUES } from '../../api/local-queue.ts';
import type { ClusterChoice, ClusterConnection } from '../cluster-connection.ts';
import type { Form } from '../cluster-flags.ts';
import { ExitCode } from '../exit-codes.ts';
import { listWork } from '../list-work.ts';
import { plain } from '../plain-text.ts';
import { report } from '../report.ts';
import type { ServerChoice } from '../server/flags.ts';
import { sharedQueues } from '../server/shared-queues.ts';
import { ownOrManager } from '../server/with-manager.ts';
import type { Session } from '../session.ts';
import { formatTable } from '../text-table.ts';
import { withCluster } from '../with-cluster.ts';
import { shareTable, shareValue } from './share-table.ts';
import { usageBy, usageTable, usageValue, type Grouping } from './usage-table.ts';

export type TopConfig = ClusterChoice &
  ServerChoice & {
    readonly by: Grouping;
    readonly namespace: string | undefined;
    readonly selector: string | undefined;
    readonly output: Form;
  };

/** `missing`: which objects are not in it, and why. */
type Shown = { readonly lines: readonly string[]; readonly groups: readonly object[]; readonly missing?: readonly string[] };

export const runTop = (config: TopConfig, session: Session): Promise<number> =>
  withCluster(config, async (connection) => {
    const { by, selector, output } = config;
    const all = (): Promise<Shown> => usageOf(config, connection, session, config.namespace ?? '');
    const isShared = by.kind === 'queue' && selector === undefined && config.namespace === undefined;
    const {
      lines,
      groups,
      missing = [],
    } = isShared
      ? await ownOrManager(config, connection, {
          own: all,
          async manager(manager) {
            const queues = await sharedQueues(manager);
            const table = formatTable(shareTable(queues), session.output.width);
            if (queues.length === 0) return { lines: ['You have no queue.'], groups: [] };
            return {
              lines: [...table, 'Left of the slash: your LocalQueues; right of it: the whole ClusterQueue.'],
              groups: shareValue(queues),
            };
          },
        })
      : await all().catch(async (error: unknown) => {
          if (!isForbidden(error) || config.namespace !== undefined) throw error;
          const { namespace } = connection;
          await session.errors.write(`only Jobs of namespace ${plain(namespace)}: you may not list those of all namespaces\n`);
          return usageOf(config, connection, session, namespace);
        });
    for (const line of missing) await session.errors.write(`${line}\n`);
    await report(session, output, { lines, value: { by: by.kind === 'label' ? `label:${by.key}` : by.kind, groups } });
    return ExitCode.Done;
  });

async function usageOf({ by, selector }: TopConfig, connection: ClusterConnection, { output }: Session, namespace: string): Promise<Shown> {
  const [{ objects, by: work, unread, unknownKinds }, localQueues] = await Promise.all([
    listWork(connection, { namespace, ...omitUndefined({ labelSelector: selector }) }),
    by.kind === 'queue' ? connection.client.list(LOCAL_QUEUES, { namespace }).then((list) => list.items) : [],
  ]);
  const leads = new Map(localQueues.map((queue) => [keyOfObject(queue), queue.spec.clusterQueue]));
  const groups = usageBy(by, work.kind, objects, (localQueue) => leads.get(localQueue));
  const lines = groups.length === 0 ? ['Nobody waits, and nothing runs.'] : formatTable(usageTable(by, groups), output.width);
  const missing = [
    ...(unknownKinds === undefined ? [] : [`only Jobs are counted: ${unknownKinds}`]),
    ...unread.map(({ plural, why }) => `no ${plural} are counted: ${why}`),
  ];
  return { lines, groups: usageValue(groups), missing };
}
