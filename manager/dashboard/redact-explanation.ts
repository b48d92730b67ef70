import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { StartEstimate } from '../insight/estimate/estimate-start.ts';
import type { ClusterHurdle, Explanation, Holder, Waits } from '../insight/explain/explain.ts';
import type { Change } from '../insight/explain/smallest-changes.ts';

/** What somebody may be told by name. */
export type VisibleNames = {
  readonly namespace: (name: string) => boolean;
  readonly queue: (name: string) => boolean;
  readonly cluster: (name: string) => boolean;
};

/** In place of the name of a Job that is not to be seen. */
export const HIDDEN_JOB = 'a Job of somebody else';

/** The explanation without names of what the viewer may not see: Jobs of others, queues and clusters. Counts and his own stay. */
export function redactExplanation(explanation: Explanation, may: VisibleNames): Explanation {
  if (explanation.kind !== 'Waiting') return explanation;
  const { cohort, estimatedStart, ...rest } = explanation;
  return {
    ...rest,
    ...(estimatedStart === undefined ? {} : { estimatedStart: estimateFor(estimatedStart, may) }),
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
    may.namespace(job.slice(0, job.indexOf('/'))) ? job : HIDDEN_JOB;

const holdersFor = (holders: readonly Holder[], may: VisibleNames): readonly Holder[] =>
  holders.map(({ job, amount }) => ({ job: nameOf(may)(job), amount }));

const clusterFor = (hurdle: ClusterHurdle, may: VisibleNames): readonly ClusterHurdle[] =>
  may.cluster(hurdle.cluster)
    ? [{ ...hurdle, room: hurdle.room.map((room) => ({ ...room, holders: holdersFor(room.holders, may) })) }]
    : [];

/** What it rests on is told of his own queues alone: names of other Jobs are in it. */
const estimateFor = (estimate: StartEstimate, may: VisibleNames): StartEstimate =>
  estimate.kind === 'Unknown'
    ? estimate
    : {
        ...estimate,
        basis: estimate.basis.map(({ runTimes, clusterQueue, family }) =>
          clusterQueue !== undefined && may.queue(clusterQueue) ? { runTimes, clusterQueue, ...omitUndefined({ family }) } : { runTimes },
        ),
      };

/** What he could not bring about, and may not know of, is left out. */
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
