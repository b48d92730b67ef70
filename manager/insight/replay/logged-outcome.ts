import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { History, Life } from './logged-history.ts';
import { recordFor } from '../../admission/decision-log/logged-decisions.ts';
import { workloadFrom } from '../../admission/decision-log/logged-workload.ts';
import type { DatedAdmission, DatedCycle, DatedPreemption, JobStory, Replayed } from './replay.ts';

/**
 * The outcome of a log in the form of a replay, for comparison. Decisions before the section was complete are left out, because they cannot
 * be repeated.
 */
export function loggedOutcome({ steps, lives }: Pick<History, 'steps' | 'lives'>): Replayed {
  const queues = queueNames(steps);
  const cycles: DatedCycle[] = [];
  const admissions: DatedAdmission[] = [];
  const preemptions: DatedPreemption[] = [];
  const displaced = new Set<object>();
  const byKey = new Map<string, Life[]>();
  for (const life of lives) byKey.set(life.key, [...(byKey.get(life.key) ?? []), life]);
  for (const step of steps) {
    if (step.kind !== 'Cycle') continue;
    const { kind: _kind, at: _at, cycle: _cycle, first: _first, most: _most, ...parts } = step.cycle;
    cycles.push({ atMs: step.atMs, ...parts });
    for (const admission of step.cycle.admitted ?? []) admissions.push({ atMs: step.atMs, ...admission });
    for (const { job, victims } of step.cycle.preempting ?? []) {
      for (const { job: victim, rule } of victims) {
        // A preemptor repeats its decision in each cycle until its victims have stopped.
        const placement = byKey
          .get(victim)
          ?.flatMap(({ placements }) => placements)
          .find(({ displaced: since }) => since?.line === step.line);
        if (placement === undefined || displaced.has(placement)) continue;
        displaced.add(placement);
        preemptions.push({ atMs: step.atMs, job, victim, rule });
      }
    }
  }
  return { stories: lives.map((life) => storyOf(life, queues)), cycles, admissions, preemptions, guessed: 0 };
}

function storyOf(life: Life, queues: ReadonlyMap<string, string>): JobStory {
  const { placements, told } = life;
  const workload = workloadFrom(told, undefined);
  const last = placements.at(-1);
  const end = last?.end;
  const isDone = end?.how === 'Finished' || end?.how === 'Deleted';
  return {
    life,
    queue: last?.admission?.queue ?? told.record?.clusterQueue ?? queues.get(`${workload.namespace}/${workload.queue ?? ''}`),
    placements: placements.flatMap(({ from, admission, end: ended }) => {
      const record = admission === undefined ? told.record : recordFor(admission, workload, from.atMs);
      return record === undefined ? [] : [{ fromMs: from.atMs, ...(ended === undefined ? {} : { toMs: ended.atMs }), record }];
    }),
    preempted: placements.filter(({ displaced, end: ended }) => displaced !== undefined && ended?.how === 'Waits').length,
    ...(isDone ? { doneMs: end.atMs } : {}),
    ...omitUndefined({ leftMs: life.leftMs }),
  };
}

/** The last ClusterQueue of each LocalQueue. */
function queueNames(steps: History['steps']): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const step of steps) {
    if (step.kind !== 'Object' || step.object.kind !== 'LocalQueue') continue;
    const { metadata } = step.object;
    const spec = step.object['spec'] as { readonly clusterQueue?: unknown } | undefined;
    if (typeof spec?.clusterQueue === 'string') names.set(`${metadata.namespace ?? ''}/${metadata.name}`, spec.clusterQueue);
  }
  return names;
}
