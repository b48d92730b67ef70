/** One time that a manager begins to lead: until its first decision, until nothing more is written, and what was called for it. */
import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { JOBS } from '../../../shared/api/resources.ts';
import { createInformer } from '../../../shared/kube/informer.ts';
import { sleep, systemClock } from '../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import type { ChildProgram } from '../../support/child-program.ts';
import { sampleOf, samplesOf } from '../dispatch.ts';
import { cpuSecondsOf, peakResidentBytesOf, residentBytesOf } from '../process-figures.ts';
import { outline, type CrowdedWorld } from './crowded-world.ts';
import { isWrite } from './durable-plane.ts';

const POLL_MS = 250;
/** Nothing but Leases is written for so long: it is steady. */
const QUIET_MS = 15_000;
const STEP_MS = 20;
const MIB = 2 ** 20;

export type Phase = {
  readonly decidedMs: number;
  /** Until the last write but those of Leases. */
  readonly steadyMs: number;
  /** Of the new leader since its start: processor time until the first decision, and until it was steady. */
  readonly cpuSeconds: number;
  readonly cpuSteadySeconds: number;
  readonly residentMiB: number;
  readonly peakMiB: number;
  /** The longest turn of its event loop since it was last asked. */
  readonly longestTurnMs: number;
  /** By cluster, verb and resource. */
  readonly writes: ReadonlyMap<string, number>;
  /** Pages of Jobs that were listed, of all clusters; whoever plays the workers lists, too, when a phase is the first. */
  readonly jobLists: number;
};

/** The first Job that is admitted from now on. */
export type Decisions = { next(): Promise<number> };

export async function watchDecisions({ home }: CrowdedWorld, signal: AbortSignal): Promise<Decisions> {
  let waiting = Promise.withResolvers<number>();
  const informer = createInformer({
    client: home.client,
    resource: JOBS,
    clock: systemClock,
    random: Math.random,
    log: silentLogger,
    transform: outline,
  });
  const updated = (next: DeepReadonly<Job>, before: DeepReadonly<Job>): void => {
    if (before.spec.suspend === true && next.spec.suspend !== true) waiting.resolve(performance.now());
  };
  informer.addHandler({ updated });
  void informer.run(signal);
  await informer.waitForSync(signal);
  return {
    next: () => {
      waiting = Promise.withResolvers<number>();
      return waiting.promise;
    },
  };
}

/**
 * `begin` lets the manager begin, and returns it; it must see to it that there is one decision to make, unless `decisions` are not asked
 * for.
 */
export async function measurePhase(
  world: CrowdedWorld,
  decisions: Decisions | undefined,
  begin: () => Promise<ChildProgram>,
): Promise<Phase> {
  const before = await callsOf(world);
  const decided = decisions?.next();
  const startedMs = performance.now();
  const manager = await begin();
  const decision = decided?.then((atMs) => ({ atMs, cpuSeconds: cpuSecondsOf(manager.pid) }));
  let hasDecided = false;
  const deciding = Promise.all([decision, readyOf(manager)]).then(() => (hasDecided = true));
  let last = { atMs: performance.now(), writes: writesIn(before) };
  let after = before;
  while (!hasDecided || performance.now() - last.atMs < QUIET_MS) {
    if (manager.hasEnded()) await manager.failsWhenEnded();
    await sleep(systemClock, POLL_MS);
    after = await callsOf(world);
    const writes = writesIn(after);
    if (writes !== last.writes || !hasDecided) last = { atMs: performance.now(), writes };
  }
  await deciding;
  const { atMs = startedMs, cpuSeconds = 0 } = (await decision) ?? {};
  const made = difference(after, before);
  return {
    decidedMs: atMs - startedMs,
    steadyMs: last.atMs - startedMs,
    cpuSeconds,
    cpuSteadySeconds: cpuSecondsOf(manager.pid),
    residentMiB: residentBytesOf(manager.pid) / MIB,
    peakMiB: peakResidentBytesOf(manager.pid) / MIB,
    longestTurnMs: sampleOf(await samplesOf(await urlOf(manager)), 'nodejs_eventloop_lag_max_seconds') * 1_000,
    writes: new Map([...made].filter(([call]) => isWriteOf(call))),
    jobLists: [...made].reduce((sum, [call, count]) => (call.endsWith(' LIST jobs') ? sum + count : sum), 0),
  };
}

export const urlOf = (manager: ChildProgram): Promise<string> => manager.find((line) => /"url":"(http:[^"]+)"/.exec(line)?.[1]);

export async function readyOf(manager: ChildProgram): Promise<void> {
  const url = await urlOf(manager);
  while ((await fetch(`${url}/readyz`)).status !== 200) {
    if (manager.hasEnded()) await manager.failsWhenEnded();
    await sleep(systemClock, STEP_MS);
  }
}

/** Without what the benchmark itself has written. */
async function callsOf({ home, workers, ownWrites }: CrowdedWorld): Promise<ReadonlyMap<string, number>> {
  const all = await Promise.all(
    [home, ...workers].map(async (plane) =>
      [...(await plane.calls())].map(([call, count]): [string, number] => [`${plane.name} ${call}`, count]),
    ),
  );
  return new Map(all.flat().map(([call, count]) => [call, count - (ownWrites.get(call) ?? 0)]));
}

const isWriteOf = (call: string): boolean => isWrite(call.slice(call.indexOf(' ') + 1));
const writesIn = (calls: ReadonlyMap<string, number>): number =>
  [...calls].reduce((sum, [call, count]) => (isWriteOf(call) && !call.endsWith(' leases') ? sum + count : sum), 0);

const difference = (after: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>): Map<string, number> =>
  new Map([...after].map(([call, count]): [string, number] => [call, count - (before.get(call) ?? 0)]).filter(([, count]) => count !== 0));
