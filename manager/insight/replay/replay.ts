import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { IndexedHeap } from '../../../shared/kube/indexed-heap.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { formatRequests } from '../../api/job-requests.ts';
import type { Decision } from '../../admission/scheduling/decision.ts';
import type { CycleParts, LoggedAdmission, LoggedObject, LoggedSettings } from '../../admission/decision-log/decision-log.ts';
import { loggedPlace, partsOf } from '../../admission/decision-log/logged-decisions.ts';
import { endedRecord } from '../../admission/cache/execution-time.ts';
import type { Ending, History, Life, Moment, Step } from './logged-history.ts';
import { withNeeded, workloadFrom, type LoggedJob, type LoggedPods } from '../../admission/decision-log/logged-workload.ts';
import { createReplayedAdmission } from './replayed-admission.ts';
import { createReplayedSetup } from './replayed-setup.ts';
import { runTimesOf } from './logged-run-times.ts';
import { nextMost } from '../../admission/queues/scheduling-cycle.ts';
import type { Workload } from '../../admission/workload/workload.ts';
import { withPods } from '../../admission/workload/workload-pod-sets.ts';

/** The policy of a replay, where it differs from the log. */
export type ReplayPolicy = {
  /** Objects that replace those of the same names for the whole replay. */
  readonly objects: readonly LoggedObject[];
  /** Settings that replace the manager's flags. */
  readonly settings?: LoggedSettings | undefined;
};

/** The outcome for the Jobs of a log, and all decisions with their times. */
export type Replayed = {
  readonly stories: readonly JobStory[];
  /** All cycles that nominated heads. */
  readonly cycles: readonly DatedCycle[];
  readonly admissions: readonly DatedAdmission[];
  readonly preemptions: readonly DatedPreemption[];
  /** Jobs with unknown run times: they run as long as others of their queue. */
  readonly guessed: number;
};
export type DatedCycle = CycleParts & { readonly atMs: number };
export type DatedAdmission = LoggedAdmission & { readonly atMs: number };
export type DatedPreemption = { readonly atMs: number; readonly job: string; readonly victim: string; readonly rule: string };

export type JobStory = {
  readonly life: Life;
  /** The ClusterQueue, if it is known. */
  readonly queue: string | undefined;
  readonly placements: readonly { readonly fromMs: number; readonly toMs?: number; readonly record: AdmissionRecord }[];
  readonly preempted: number;
  /** When the Job had run to its end. */
  readonly doneMs?: number;
  /** When the Job was gone, with or without having run. */
  readonly leftMs?: number;
};

/**
 * Decides a log again, under its own setup or another one, with the manager's functions. Jobs arrive and run as logged. While decisions
 * equal the logged ones, their consequences come at exactly the logged moments, so nothing differs before the first decision that does.
 * From then on a Job ends as long after its admission as it did, and stops as long after its preemption as others did.
 */
export function replay(history: History, policy: ReplayPolicy = { objects: [] }): Replayed {
  const runTimes = runTimesOf(history);
  const jobs = new Map<Life, ReplayedJob>();
  const byKey = new Map<string, ReplayedJob>();
  const admissions: DatedAdmission[] = [];
  const preemptions: DatedPreemption[] = [];
  const cycles: DatedCycle[] = [];
  const guessed = new Set<Life>();
  let now: Moment = { atMs: history.startMs, line: -1 };
  /** No further cycle of this pass changes anything. */
  let hasEnded = true;
  let most = 1;
  let serial = 0;
  const events = new IndexedHeap<Event>(
    ({ id }) => id,
    (a, b) => compareMoments(a.when, b.when) || a.order - b.order,
  );

  const setup = createReplayedSetup(policy.objects);
  const admission = createReplayedAdmission({
    setup,
    settings: policy.settings ?? history.settings,
    now: () => now.atMs,
    at: (timeMs, retry) =>
      plan({ atMs: Math.max(timeMs, now.atMs), line: timeMs > now.atMs ? -1 : AFTER_ALL }, () => {
        retry();
        lookSoon();
      }),
  });

  function plan(when: Moment, happen: () => void): void {
    const order = serial++;
    events.set({ id: String(order), order, when, happen });
  }

  /** An event that is not in the log gets a pass of its own, after all other events of this time. */
  const lookSoon = (): void =>
    plan({ atMs: now.atMs, line: AFTER_ALL }, () => {
      beginPass();
      while (!hasEnded) runCycle();
    });

  function beginPass(): void {
    hasEnded = false;
    most = 1;
    for (const key of admission.beginPass()) {
      const job = byKey.get(key);
      if (job?.state === 'placed' && job.toStop === undefined && job.displaced !== undefined) stop(job, job.displaced);
    }
  }

  function runCycle(): void {
    if (hasEnded) return;
    const result = admission.cycle(now.atMs, most);
    hasEnded = result.tried === 0 || !result.progressed;
    most = nextMost(most, result);
    if (result.tried > 0) cycles.push({ atMs: now.atMs, ...partsOf(result.decisions) });
    for (const decision of result.decisions) take(decision);
  }

  function take(decision: Decision): void {
    const { clusterQueue: queue, queued } = decision.head;
    const job = byKey.get(queued.workload.key);
    if (job === undefined) return;
    if (decision.kind === 'Admit') {
      admissions.push({ atMs: now.atMs, job: job.life.key, queue, ...loggedPlace(decision.record) });
      place(job, decision.record, now);
    }
    if (decision.kind !== 'Preempt') return;
    for (const { admitted, rule } of decision.victims) {
      const victim = byKey.get(admitted.reservation.workload.key);
      if (admitted.leaving || victim === undefined || victim.displaced !== undefined) continue;
      victim.displaced = { ...now, by: { by: job.life.key, clusterQueue: queue, rule } };
      preemptions.push({ atMs: now.atMs, job: job.life.key, victim: victim.life.key, rule });
      // If the log has the same preemption, it has the stop too; other victims are evicted in the next pass.
      if (victim.logged?.displaced?.atMs === now.atMs) stop(victim, victim.displaced);
      else lookSoon();
    }
  }

  /** Begins an admission: what follows is known from the log, or derived from it. */
  function place(job: ReplayedJob, record: AdmissionRecord, from: Moment): void {
    const logged = job.life.placements[job.ordinal];
    job.ordinal++;
    job.state = 'placed';
    job.record = record;
    job.displaced = undefined;
    job.toStop = undefined;
    job.story.push({ fromMs: from.atMs, record });
    const isSame =
      logged !== undefined && logged.from.atMs === from.atMs && (logged.admission?.cluster ?? record.cluster) === record.cluster;
    job.logged = isSame ? logged : undefined;
    if (logged === undefined) return endAfter(job, from, 0);
    /** The time of a logged moment in this placement. */
    const when = (moment: Moment): Moment => (isSame ? moment : { atMs: from.atMs + moment.atMs - logged.from.atMs, line: AFTER_ALL });
    // Where its queue did not block admission, the log does not say when its pods were ready: at once.
    if (!logged.needs.some(({ starting }) => starting) && admission.isBlocked(record.clusterQueue)) shrink(job, job.told.needed);
    for (const { when: then, needed, starting } of logged.needs) meanwhile(job, when(then), () => shrink(job, needed, starting));
    const { end, evicting, displaced } = logged;
    if (displaced !== undefined && (end === undefined || end.how === 'Waits'))
      // The Job had not ended before it was interrupted.
      return endAfter(job, from, (evicting?.atMs ?? history.endMs) - logged.from.atMs + 1);
    if (end === undefined) return;
    if (evicting !== undefined) meanwhile(job, when(evicting), () => evict(job));
    meanwhile(job, when(end), () => finish(job, end));
  }

  /** Ends a Job by itself, unless it is evicted before. */
  function endAfter(job: ReplayedJob, from: Moment, leastMs: number): void {
    const runTime = runTimes.of(job.life);
    if (runTime === undefined) return;
    meanwhile(job, { atMs: from.atMs + Math.max(runTime.ms, leastMs), line: AFTER_ALL }, () => {
      if (job.state !== 'placed') return;
      if (runTime.isGuess) guessed.add(job.life);
      finish(job, { ...now, how: 'Finished' });
    });
  }

  /** Schedules an event that happens only while the Job has this placement. */
  function meanwhile(job: ReplayedJob, when: Moment, happen: () => void): void {
    const placement = job.ordinal;
    plan(when, () => {
      if (job.ordinal !== placement || (job.state !== 'placed' && job.state !== 'stopping')) return;
      happen();
      // A logged event is followed by the log's own pass.
      if (when.line === AFTER_ALL) lookSoon();
    });
  }

  /** Evicts a Job. It stops as logged, or as others did. */
  function stop(job: ReplayedJob, displaced: Displaced): void {
    job.toStop = displaced;
    const logged = job.logged?.displaced?.atMs === displaced.atMs ? job.logged : undefined;
    if (logged === undefined) {
      const { evictingMs, waitsMs } = runTimes.stopping;
      const later = (ms: number): Moment => ({ atMs: Math.max(now.atMs, displaced.atMs + ms), line: AFTER_ALL });
      meanwhile(job, later(evictingMs), () => evict(job));
      meanwhile(job, later(Math.max(evictingMs, waitsMs)), () => finish(job, { ...now, how: 'Waits' }));
      return;
    }
    const { evicting, end } = logged;
    if (evicting !== undefined) meanwhile(job, evicting, () => evict(job));
    if (end?.how === 'Waits') meanwhile(job, end, () => finish(job, end));
  }

  /** The Job holds quota for this number of pods. `starting`: they are not all ready. */
  function shrink(job: ReplayedJob, needed: LoggedPods | undefined, starting?: true): void {
    if (job.record === undefined || job.state !== 'placed') return;
    const workload = withNeeded(workloadFrom(job.told, job.record), needed);
    admission.holds({ ...workload, phase: 'Admitted', started: starting !== true }, job.record);
  }

  function evict(job: ReplayedJob): void {
    if (job.record === undefined) return;
    const by = job.displaced?.by;
    job.state = 'stopping';
    job.record = { ...endedRecord(job.record, now.atMs), ...(by === undefined ? {} : { preempted: by }) };
    admission.holds({ ...workloadFrom(job.told, job.record), phase: 'Evicting' }, job.record);
  }

  function finish(job: ReplayedJob, { how, told }: Ending): void {
    const last = job.story.at(-1);
    if (last !== undefined) last.toMs = now.atMs;
    if (how === 'Waits' || how === 'Undone') {
      if (job.displaced !== undefined) job.preempted++;
      admission.leaves(job.life.key);
      // The logged record knows which clusters have refused the Job.
      const record = told?.record?.cluster === job.record?.cluster ? told?.record : job.record && endedRecord(job.record, now.atMs);
      job.state = 'waiting';
      if (told !== undefined) job.told = told;
      // A failed write is retried later, at a logged time.
      if (how === 'Undone' && told === undefined && job.logged !== undefined) return;
      wait(job, how === 'Undone' ? job.recordBefore : record);
      return;
    }
    job.state = 'over';
    job.leftMs = now.atMs;
    if (how !== 'Unknown') job.doneMs = now.atMs;
    admission.leaves(job.life.key);
  }

  function wait(job: ReplayedJob, record: AdmissionRecord | undefined): void {
    job.state = 'waiting';
    job.record = record;
    job.recordBefore = record;
    job.displaced = undefined;
    const workload = workloadFrom(job.told, record);
    job.queue = admission.clusterQueueOf(workload) ?? job.queue;
    admission.waits(workload, job.told.arrival);
  }

  const jobOf = (life: Life): ReplayedJob => {
    const known = jobs.get(life);
    if (known !== undefined) return known;
    const job: ReplayedJob = { life, told: life.told, state: 'waiting', ordinal: 0, story: [], preempted: 0, queue: undefined };
    jobs.set(life, job);
    byKey.set(life.key, job);
    return job;
  };

  function step(each: Step): void {
    if (each.kind !== 'Object' && each.kind !== 'Gone') admission.refresh();
    if (each.kind !== 'Cycle' && each.kind !== 'Looked') hasEnded = false;
    switch (each.kind) {
      case 'Object':
        return setup.set(each.object);
      case 'Gone':
        return setup.gone(each.object);
      case 'Waits': {
        const job = jobOf(each.life);
        job.told = each.told;
        if (job.state === 'waiting') wait(job, job.ordinal === 0 ? each.told.record : (job.record ?? each.told.record));
        return;
      }
      case 'Holds':
        return holds(jobOf(each.life), each.told, each);
      case 'Placed': {
        const job = jobOf(each.life);
        const record = recordFor(each.admission, workloadFrom(job.told, undefined), each.atMs);
        return holds(job, { ...job.told, phase: 'Admitted', record }, each);
      }
      case 'Leaves': {
        const job = jobOf(each.life);
        if (job.state === 'over') return;
        finish(job, { ...each, how: 'Unknown' });
        return lookSoon();
      }
      case 'Cycle':
        if (each.cycle.first === true) beginPass();
        return runCycle();
      case 'Looked':
        if (each.looked.first === true) beginPass();
        while (each.looked.because === 'idle' && !hasEnded) runCycle();
        return;
    }
  }

  function holds(job: ReplayedJob, told: LoggedJob, from: Moment): void {
    const { record } = told;
    // Under this policy the Job has another course already.
    if (record === undefined || job.state !== 'waiting') return;
    job.told = told;
    admission.holds({ ...workloadFrom(told, record), phase: told.phase, started: told.starting !== true }, record);
    job.queue = record.clusterQueue;
    const logged = job.life.placements[job.ordinal];
    place(job, record, logged?.from ?? from);
    if (told.phase !== 'Admitted' && told.phase !== 'Reserved') job.state = 'stopping';
  }

  const run = (until: Moment): void => {
    for (let next = events.peek(); next !== undefined && compareMoments(next.when, until) <= 0; next = events.peek()) {
      events.delete(next.id);
      now = next.when;
      hasEnded = false;
      next.happen();
    }
  };

  const sampleFrom = (atMs: number): void =>
    plan({ atMs, line: AFTER_ALL }, () => {
      admission.sample(now.atMs);
      if (admission.samplingMs !== undefined) sampleFrom(atMs + admission.samplingMs);
    });
  if (admission.samplingMs !== undefined) sampleFrom(history.startMs);
  for (const each of history.steps) {
    run(each);
    now = each;
    step(each);
  }
  run({ atMs: history.endMs, line: AFTER_ALL });
  return {
    stories: [...jobs.values()].map(({ life, queue, story, preempted, doneMs, leftMs }) => ({
      life,
      queue,
      placements: story,
      preempted,
      ...omitUndefined({ doneMs, leftMs }),
    })),
    cycles,
    admissions,
    preemptions,
    guessed: guessed.size,
  };
}

type Event = { readonly id: string; readonly order: number; readonly when: Moment; readonly happen: () => void };
type Displaced = Moment & { readonly by: NonNullable<AdmissionRecord['preempted']> };

type ReplayedJob = {
  readonly life: Life;
  told: LoggedJob;
  state: 'waiting' | 'placed' | 'stopping' | 'over';
  /** The number of placements so far. */
  ordinal: number;
  record?: AdmissionRecord | undefined;
  /** The record of the last wait. */
  recordBefore?: AdmissionRecord | undefined;
  /** The logged placement, if this one equals it. */
  logged?: Life['placements'][number] | undefined;
  /** The moment of the decision to preempt the Job. */
  displaced?: Displaced | undefined;
  /** The preemption that is being carried out. */
  toStop?: Displaced | undefined;
  readonly story: { readonly fromMs: number; toMs?: number; readonly record: AdmissionRecord }[];
  preempted: number;
  queue: string | undefined;
  doneMs?: number;
  leftMs?: number;
};

const AFTER_ALL = Number.POSITIVE_INFINITY;

const compareMoments = (a: Moment, b: Moment): number => a.atMs - b.atMs || (a.line === b.line ? 0 : a.line - b.line);

/** The record of a logged admission, as far as decisions depend on it. */
export function recordFor(
  { queue, cluster, flavors, podSets: taken, pods }: LoggedAdmission,
  workload: Pick<Workload, 'requests' | 'podSets'>,
  atMs: number,
): AdmissionRecord {
  const { requests, podSets } = withPods(workload, pods);
  return {
    clusterQueue: queue,
    flavors,
    cluster,
    epoch: 1,
    since: new Date(atMs).toISOString(),
    requests: formatRequests(requests),
    ...omitUndefined({
      podSets: podSets?.map(({ podSet: name, requests: each, admittedPods: count }) => ({
        name,
        flavors: taken?.[name] ?? flavors,
        requests: formatRequests(each),
        ...omitUndefined({ count }),
      })),
      parallelism: pods,
    }),
  };
}
