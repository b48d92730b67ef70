import { CLUSTER_LABEL } from '../../../shared/api/names.ts';
import type { ReadClient, WatchClient } from '../../../shared/kube/client.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import { writtenRecordOf } from '../../api/records.ts';
import { WORKER_CLUSTERS } from '../../api/worker-cluster.ts';
import type { ClusterChoice, JobClient } from '../cluster-connection.ts';
import type { Form } from '../cluster-flags.ts';
import { ExitCode } from '../exit-codes.ts';
import { followObjects } from '../follow-objects.ts';
import { plain } from '../plain-text.ts';
import { report } from '../report.ts';
import { createProgressLine } from '../progress-line.ts';
import type { Session } from '../session.ts';
import { waitingFor } from '../waiting.ts';
import { withCluster } from '../with-cluster.ts';

export type StateConfig = ClusterChoice & {
  readonly names: readonly string[];
  readonly state: 'Active' | 'Cordoned' | 'Draining';
  readonly output: Form;
  readonly wait: boolean;
  /** 0: none. */
  readonly timeout: number;
};

const SAID = { Active: 'takes Jobs', Cordoned: 'takes no more Jobs', Draining: 'takes no more Jobs, and its Jobs move' } as const;

export const runSetState = (config: StateConfig, session: Session): Promise<number> =>
  withCluster(config, async ({ client, kind }) => {
    const { names, state, output, wait, timeout } = config;
    // All of them are there, or nothing is done.
    await Promise.all(names.map((name) => client.get(WORKER_CLUSTERS, { namespace: '', name })));
    for (const name of names) await client.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { spec: { state } } });
    await report(session, output, {
      lines: names.map((name) => `${plain(name)} ${SAID[state]}`),
      value: { clusters: names.map((name) => ({ name, state })) },
    });
    if (!wait) return ExitCode.Done;
    return waitingFor({ session, timeoutMs: timeout, what: `${names.join(', ')} is not empty yet` }, (signal, done) =>
      untilEmpty({ client, kind }, names, session, signal, done),
    );
  });

/** Says of each Job that it has left. */
export async function untilEmpty(
  { client, kind }: Pick<JobClient, 'kind'> & { readonly client: ReadClient & WatchClient },
  names: readonly string[],
  { errors, now }: Session,
  signal: AbortSignal,
  done: () => void,
): Promise<void> {
  const isThere = (job: Parameters<typeof writtenRecordOf>[0]): boolean => {
    const written = writtenRecordOf(job);
    return written.kind === 'Record' && names.includes(written.record.cluster);
  };
  const there = new Set<string>();
  const { items } = await client.list(kind.resource, { labelSelector: CLUSTER_LABEL });
  for (const job of items) if (isThere(job) && !isFinished(job.status)) there.add(job.metadata.uid);
  await errors.write(`${there.size === 1 ? '1 Job is' : `${there.size} Jobs are`} placed there\n`);
  if (there.size === 0) return done();
  const progress = createProgressLine(errors, there.size, now);
  let total = there.size;
  const show = (): Promise<void> => progress.show(() => ({ done: total - there.size, total, words: `have left, ${there.size} to go` }));
  await show();
  await followObjects(
    client,
    { resource: kind.resource, labelSelector: CLUSTER_LABEL, seen: items },
    async (job, isGone) => {
      const { uid, namespace, name } = job.metadata;
      if (!isGone && isThere(job) && !isFinished(job.status)) {
        if (!there.has(uid)) total++;
        return void there.add(uid);
      }
      if (there.delete(uid)) {
        if (progress.isShown) await show();
        else await errors.write(`${plain(`${namespace}/${name}`)} has left, ${there.size} to go\n`);
      }
      if (there.size === 0) done();
    },
    signal,
  ).finally(() => progress.end());
}
