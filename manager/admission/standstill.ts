import type { Decision, Head } from './decision.ts';
import { schedule } from './schedule.ts';
import { cacheOf, queueingOf, waitingByQueue, type Waiting, type World } from './world.ts';

/**
 * What becomes of those that wait in a world if nothing in it ends or comes: scheduling cycles, one after another, until none of them admits anybody.
 * By key, with what was decided of each last; those that nothing was decided of stand behind one that blocks their queue, or are like one that does not fit.
 * With `until`, no further than it takes to know what becomes of that one.
 */
export function standstill(world: World, until?: string): ReadonlyMap<string, Decision> {
  const queueing = queueingOf(world);
  const cache = cacheOf(world, queueing);
  const lanes = [...waitingByQueue(world, queueing)].map(([clusterQueue, waiting]) => createLane(clusterQueue, waiting));
  const decided = new Map<string, Decision>();
  for (;;) {
    const standing = lanes.flatMap((lane) => lane.standing ?? []);
    const heads = lanes.flatMap((lane) => headOf(lane) ?? []);
    if (heads.length === 0) return decided;
    const before = new Set(standing.map(({ queued }) => queued.workload.key));
    let progressed = false;
    for (const decision of schedule(cache.snapshot(), heads, world.nowMs, standing)) {
      const lane = lanes.find(({ clusterQueue }) => clusterQueue === decision.head.clusterQueue);
      if (lane === undefined) continue;
      const { workload } = decision.head.queued;
      decided.set(workload.key, decision);
      if (decision.kind === 'Admit') cache.assume(workload, decision.record);
      if (decision.kind === 'Preempt')
        cache.displace({ key: workload.key, uid: workload.uid, clusterQueue: lane.clusterQueue }, decision.victims);
      if (decision.kind === 'Admit' || (decision.kind !== 'Requeue' && !before.has(workload.key))) progressed = true;
      note(lane, decision);
    }
    const known = until === undefined ? undefined : decided.get(until);
    if (!progressed || (known !== undefined && known.kind !== 'Requeue')) return decided;
  }
}

/** A ClusterQueue as cycles go through it. */
type Lane = {
  readonly clusterQueue: string;
  readonly waiting: Waiting[];
  /** Of these, and of all like them, is known that they do not fit. */
  readonly setAside: Set<string>;
  /** Something is kept for it: it takes part in the cycles to come. */
  standing: Head | undefined;
  /** Nobody goes before the first has gone. */
  blocked: boolean;
};

const createLane = (clusterQueue: string, waiting: readonly Waiting[]): Lane => ({
  clusterQueue,
  waiting: [...waiting],
  setAside: new Set(),
  standing: undefined,
  blocked: false,
});

function headOf(lane: Lane): Head | undefined {
  if (lane.blocked) return undefined;
  const next = lane.waiting.find((waiting) => !lane.setAside.has(likeness(waiting.queued)));
  return next && { clusterQueue: lane.clusterQueue, queued: next.queued };
}

/** Those that fit together or fail together. */
const likeness = ({ workload, priority }: Head['queued']): string =>
  `${workload.namespace} ${workload.schedulingHash} ${workload.shape} ${priority}`;

function note(lane: Lane, decision: Decision): void {
  const { head } = decision;
  const { key } = head.queued.workload;
  if (lane.standing?.queued.workload.key === key) lane.standing = undefined;
  if (decision.kind === 'Requeue') return;
  if (decision.kind === 'Admit') {
    const place = lane.waiting.findIndex(({ queued }) => queued.workload.key === key);
    if (place >= 0) lane.waiting.splice(place, 1);
    return;
  }
  lane.setAside.add(likeness(head.queued));
  if (decision.claim !== undefined) lane.standing = { ...head, claim: decision.claim };
  const strict = lane.waiting[0]?.strict === true && (decision.kind === 'Preempt' || decision.waitsFor !== 'setup');
  if (decision.kind === 'Preempt' || strict) lane.blocked = true;
}
