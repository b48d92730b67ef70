import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { Effect, EffectKind, JobState, WhatIf } from '../insight/what-if/what-if.ts';
import type { ClusterQueue } from '../api/cluster-queue.ts';
import { toWorkKey } from '../work-kind/qualified-name.ts';
import { namespaceOf } from './job-line.ts';
import type { WhatIfView } from './views.ts';
import type { VisibleNames } from './redact-explanation.ts';
import type { ObjectEdit } from '../insight/questions/simulation-queries.ts';

const JOBS_SHOWN = 100;

/** The effects of edits on the Jobs and queues that the viewer may see, and the commands that make the edits. */
export function redactWhatIf(
  outcome: WhatIf,
  { queue, edits }: { readonly queue?: DeepReadonly<ClusterQueue>; readonly edits: readonly ObjectEdit[] },
  may: VisibleNames,
): WhatIfView {
  const counts = new Map<string, Map<EffectKind, number>>();
  const jobs: WhatIfView['jobs'][number][] = [];
  let named = 0;
  for (const effect of outcome.effects) {
    const where = queueOf(effect);
    if (where !== undefined && may.queue(where)) {
      const ofQueue = counts.get(where) ?? new Map<EffectKind, number>();
      counts.set(where, ofQueue.set(effect.kind, (ofQueue.get(effect.kind) ?? 0) + 1));
    }
    if (!may.namespace(namespaceOf({ key: effect.job }))) continue;
    named++;
    if (jobs.length < JOBS_SHOWN) jobs.push(jobOf(effect, may));
  }
  const own = queue?.metadata.name;
  return {
    queues: [...counts]
      .map(([name, kinds]) => ({ name, effects: Object.fromEntries(kinds) }))
      .toSorted((a, b) => Number(b.name === own) - Number(a.name === own) || (a.name < b.name ? -1 : 1)),
    jobs,
    more: named - jobs.length,
    isSettled: outcome.settled,
    commands: queue === undefined ? [] : commandsFor(queue, edits),
  };
}

/** The queue of the Job without the edits, else with them. */
const queueOf = ({ without, now, with: standing }: Effect): string | undefined =>
  [without, now, standing].flatMap((each) => (each !== undefined && 'clusterQueue' in each ? [each.clusterQueue] : []))[0];

function jobOf({ job, kind, without, with: standing }: Effect, may: VisibleNames): WhatIfView['jobs'][number] {
  return {
    key: toWorkKey(job),
    kind,
    ...omitUndefined({ without: without && standingInWords(without, may) }),
    with: standingInWords(standing, may),
  };
}

function standingInWords(standing: JobState, may: VisibleNames): string {
  switch (standing.kind) {
    case 'Admitted':
      return may.cluster(standing.cluster) ? `runs on ${standing.cluster}` : 'runs';
    case 'Waiting':
      return may.queue(standing.clusterQueue) ? `waits at place ${standing.position + 1} of ${standing.clusterQueue}` : 'waits';
    case 'NotQueued':
      return `waits outside of the queue (${standing.reason})`;
    case 'Stopping':
      return 'is suspended, and has not stopped';
    case 'Ends':
      return 'ends';
  }
}

function commandsFor(queue: DeepReadonly<ClusterQueue>, edits: readonly ObjectEdit[]): WhatIfView['commands'] {
  const { name } = queue.metadata;
  const patches: { readonly op: string; readonly path: string; readonly value: unknown }[] = [];
  const drained: string[] = [];
  for (const { object, name: of, edit } of edits) {
    if (object === 'WorkerCluster') drained.push(of);
    else if (edit.field === 'quota') patches.push({ op: 'replace', path: pathOf(queue, edit.flavor, edit.resource), value: edit.amount });
    else if (edit.field === 'weight')
      patches.push(
        queue.spec.fairSharing === undefined
          ? { op: 'add', path: '/spec/fairSharing', value: { weight: edit.weight } }
          : { op: 'add', path: '/spec/fairSharing/weight', value: edit.weight },
      );
  }
  return [
    ...(patches.length === 0 ? [] : [`kubectl patch clusterqueue ${name} --type=json -p '${JSON.stringify(patches)}'`]),
    ...drained.map((cluster) => `switchyard clusters drain ${cluster}`),
  ];
}

/** The JSON pointer of a nominal quota. */
function pathOf({ spec }: DeepReadonly<ClusterQueue>, flavor: string, resource: string): string {
  for (const [group, { flavors }] of (spec.resourceGroups ?? []).entries())
    for (const [at, { name, resources }] of flavors.entries())
      for (const [position, each] of resources.entries())
        if (name === flavor && each.name === resource)
          return `/spec/resourceGroups/${group}/flavors/${at}/resources/${position}/nominalQuota`;
  throw new Error(`${flavor}:${resource} was looked for before`);
}
