import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { ClusterChoice } from '../cluster-connection.ts';
import type { Form } from '../cluster-flags.ts';
import { ExitCode } from '../exit-codes.ts';
import { report } from '../report.ts';
import type { Session } from '../session.ts';
import { formatTable } from '../text-table.ts';
import { withCluster } from '../with-cluster.ts';
import { usageBy, usageTable, usageValue, type Grouping } from './usage-table.ts';

export type TopConfig = ClusterChoice & { readonly by: Grouping; readonly selector: string | undefined; readonly output: Form };

export const runTop = (config: TopConfig, session: Session): Promise<number> =>
  withCluster(config, async ({ client, kind }) => {
    const { by, selector, output } = config;
    const { items } = await client.list(kind.resource, omitUndefined({ labelSelector: selector }));
    const groups = usageBy(by, items);
    const lines = groups.length === 0 ? ['Nobody waits, and nothing runs.'] : formatTable(usageTable(by, groups), session.output.width);
    await report(session, output, { lines, value: { by: by.kind === 'label' ? `label:${by.key}` : by.kind, groups: usageValue(groups) } });
    return ExitCode.Done;
  });
