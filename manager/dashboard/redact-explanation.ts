import { toWorkKey } from '../work-kind/qualified-name.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { StartEstimate } from '../insight/estimate/estimate-start.ts';
import type { ClusterHurdle, Explanation, Holder, Waits } from '../insight/explain/explain.ts';
import type { Change } from '../insight/explain/smallest-changes.ts';

/** The names that a viewer may see. */
export type VisibleNames = {
  readonly namespace: (name: string) => boolean;
  readonly queue: (name: string) => boolean;
  readonly cluster: (name: string) => boolean;
};

/** Replaces the name of a Job that the viewer may not see. */
export const HIDDEN_JOB = 'a Job of somebody else';

/** The explanation without the names of Jobs, queues and clusters that the viewer may not see. Counts and the viewer's own Jobs stay. */
export function redactExplanation(explanation: Explanation, may: VisibleNames): Explanation {
  if (explanation.kind !== 'Waiting') return { ...explanation, job: toWorkKey(explanation.job) };
  const { cohort, estimatedStart, reservation, ...rest } = explanation;
  return {
    ...rest,
    job: toWorkKey(explanation.job),
    ...(estimatedStart === undefined ? {} : { estimatedStart: estimateFor(estimatedStart, may) }),
    ...(reservation !== undefined && may.cluster(reservation.cluster) ? { reservation } : {}),
    ahead: explanation.ahead.map(nameOf(may)),
    ...(cohort === undefined
      ? {}
      : {
          cohort: {
            ...cohort,
            ahead: cohort.ahead.map(({ job, clusterQueue, ...more }) => ({
              ...more,
              job: nameOf(may)(job),
              clusterQueue: may.queue(clusterQueue) ? clusterQueue : 'another queue',
            })),
          },
        }),
    flavors: explanation.flavors.map((flavor) => ({ ...flavor, holders: holdersFor(flavor.holders, may) })),
    clusters: explanation.clusters.flatMap((cluster) => clusterFor(cluster, may)),
    changes: explanation.changes.flatMap((change) => changeFor(change, explanation, may)),
  };
}

const nameOf =
  (may: VisibleNames) =>
  (job: string): string =>
    may.namespace(job.slice(0, job.indexOf('/'))) ? toWorkKey(job) : HIDDEN_JOB;

const holdersFor = (holders: readonly Holder[], may: VisibleNames): readonly Holder[] =>
  holders.map(({ job, amount }) => ({ job: nameOf(may)(job), amount }));

const clusterFor = (hurdle: ClusterHurdle, may: VisibleNames): readonly ClusterHurdle[] =>
  may.cluster(hurdle.cluster)
    ? [{ ...hurdle, room: hurdle.room.map((room) => ({ ...room, holders: holdersFor(room.holders, may) })) }]
    : [];

/** The basis of an estimate contains names of other Jobs, so it is shown for queues that the viewer may see. */
const estimateFor = (estimate: StartEstimate, may: VisibleNames): StartEstimate =>
  estimate.kind === 'Unknown'
    ? estimate
    : {
        ...estimate,
        basis: estimate.basis.map(({ runTimes, clusterQueue, family }) =>
          clusterQueue !== undefined && may.queue(clusterQueue) ? { runTimes, clusterQueue, ...omitUndefined({ family }) } : { runTimes },
        ),
      };

/** Drops changes of objects that the viewer may not see. */
function changeFor(change: Change, { clusterQueue }: Waits, may: VisibleNames): readonly Change[] {
  switch (change.kind) {
    case 'MoreRoom':
    case 'ClusterOpens':
      return may.cluster(change.cluster) ? [change] : [];
    case 'MoreQuota':
      return change.clusterQueue === clusterQueue || may.queue(change.clusterQueue) ? [change] : [];
    case 'JobsEnd':
      return [{ ...change, jobs: change.jobs.map(nameOf(may)) }];
    case 'FewerPods':
    case 'LowerRequest':
      return [change];
  }
}
