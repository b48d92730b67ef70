import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { IndexedHeap } from '../../../shared/kube/indexed-heap.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import type { Decision } from '../../admission/scheduling/decision.ts';
import type { CycleParts, LoggedAdmission, LoggedObject, LoggedSettings } from '../../admission/decision-log/decision-log.ts';
import { loggedPlace, partsOf, recordFor } from '../../admission/decision-log/logged-decisions.ts';
import { endedRecord } from '../../admission/cache/execution-time.ts';
import type { Ending, History, Life, Moment, Step } from './logged-history.ts';
import { withNeeded, workloadFrom, type LoggedJob, type LoggedPods } from '../../admission/decision-log/logged-workload.ts';
import { createReplayedAdmission, type ReplayedAdmission } from './replayed-admission.ts';
import { createReplayedSetup, type ReplayedSetup } from './replayed-setup.ts';
import { runTimesOf, type RunTimes } from './logged-run-times.ts';
import { nextMost } from '../../admission/queues/scheduling-cycle.ts';

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
  return new Replay(history, policy).run();
}

class Replay {
  readonly #history: History;
  readonly #runTimes: RunTimes;
  readonly #setup: ReplayedSetup;
  readonly #admission: ReplayedAdmission;
  readonly #jobs = new Map<Life, ReplayedJob>();
  readonly #byKey = new Map<string, ReplayedJob>();
  readonly #admissions: DatedAdmission[] = [];
  readonly #preemptions: DatedPreemption[] = [];
  readonly #cycles: DatedCycle[] = [];
  readonly #guessed = new Set<Life>();
  #now: Moment;
  /** No further cycle of this pass changes anything. */
  #hasEnded = true;
  #most = 1;
  #serial = 0;
  readonly #events = new IndexedHeap<Event>(
    ({ id }) => id,
    (a, b) => compareMoments(a.when, b.when) || a.order - b.order,
  );

  constructor(history: History, policy: ReplayPolicy) {
    this.#history = history;
    this.#runTimes = runTimesOf(history);
    this.#now = { atMs: history.startMs, line: -1 };
    this.#setup = createReplayedSetup(policy.objects);
    this.#admission = createReplayedAdmission({
      setup: this.#setup,
      settings: policy.settings ?? history.settings,
      now: () => this.#now.atMs,
      at: (timeMs, retry) =>
        this.#plan({ atMs: Math.max(timeMs, this.#now.atMs), line: timeMs > this.#now.atMs ? -1 : AFTER_ALL }, () => {
          retry();
          this.#lookSoon();
        }),
    });
  }

  run(): Replayed {
    const { samplingMs } = this.#admission;
    if (samplingMs !== undefined) this.#sampleFrom(this.#history.startMs, samplingMs);
    for (const each of this.#history.steps) {
      this.#runUntil(each);
      this.#now = each;
      this.#step(each);
    }
    this.#runUntil({ atMs: this.#history.endMs, line: AFTER_ALL });
    return {
      stories: [...this.#jobs.values()].map(({ life, queue, story, preempted, doneMs, leftMs }) => ({
        life,
        queue,
        placements: story,
        preempted,
        ...omitUndefined({ doneMs, leftMs }),
      })),
      cycles: this.#cycles,
      admissions: this.#admissions,
      preemptions: this.#preemptions,
      guessed: this.#guessed.size,
    };
  }

  #runUntil(until: Moment): void {
    for (let next = this.#events.peek(); next !== undefined && compareMoments(next.when, until) <= 0; next = this.#events.peek()) {
      this.#events.delete(next.id);
      this.#now = next.when;
      this.#hasEnded = false;
      next.happen();
    }
  }

  #sampleFrom(atMs: number, samplingMs: number): void {
    this.#plan({ atMs, line: AFTER_ALL }, () => {
      this.#admission.sample(this.#now.atMs);
      this.#sampleFrom(atMs + samplingMs, samplingMs);
    });
  }

  #plan(when: Moment, happen: () => void): void {
    const order = this.#serial++;
    this.#events.set({ id: String(order), order, when, happen });
  }

  /** An event that is not in the log gets a pass of its own, after all other events of this time. */
  #lookSoon(): void {
    this.#plan({ atMs: this.#now.atMs, line: AFTER_ALL }, () => {
      this.#beginPass();
      while (!this.#hasEnded) this.#runCycle();
    });
  }

  #beginPass(): void {
    this.#hasEnded = false;
    this.#most = 1;
    for (const key of this.#admission.beginPass()) {
      const job = this.#byKey.get(key);
      if (job?.state === 'placed' && job.toStop === undefined && job.displaced !== undefined) this.#stop(job, job.displaced);
    }
  }

  #runCycle(): void {
    if (this.#hasEnded) return;
    const result = this.#admission.cycle(this.#now.atMs, this.#most);
    this.#hasEnded = result.tried === 0 || !result.progressed;
    this.#most = nextMost(this.#most, result);
    if (result.tried > 0) this.#cycles.push({ atMs: this.#now.atMs, ...partsOf(result.decisions) });
    for (const decision of result.decisions) this.#take(decision);
  }

  #take(decision: Decision): void {
    const { clusterQueue: queue, queued } = decision.head;
    const job = this.#byKey.get(queued.workload.key);
    if (job === undefined) return;
    if (decision.kind === 'Admit') {
      this.#admissions.push({ atMs: this.#now.atMs, job: job.life.key, queue, ...loggedPlace(decision.record) });
      this.#place(job, decision.record, this.#now);
    }
    if (decision.kind !== 'Preempt') return;
    for (const { admitted, rule } of decision.victims) {
      const victim = this.#byKey.get(admitted.reservation.workload.key);
      if (admitted.leaving || victim === undefined || victim.displaced !== undefined) continue;
      victim.displaced = { ...this.#now, by: { by: job.life.key, clusterQueue: queue, rule } };
      this.#preemptions.push({ atMs: this.#now.atMs, job: job.life.key, victim: victim.life.key, rule });
      // If the log has the same preemption, it has the stop too; other victims are evicted in the next pass.
      if (victim.logged?.displaced?.atMs === this.#now.atMs) this.#stop(victim, victim.displaced);
      else this.#lookSoon();
    }
  }

  /** Begins an admission: what follows is known from the log, or derived from it. */
  #place(job: ReplayedJob, record: AdmissionRecord, from: Moment): void {
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
    if (logged === undefined) return this.#endAfter(job, from, 0);
    /** The time of a logged moment in this placement. */
    const when = (moment: Moment): Moment => (isSame ? moment : { atMs: from.atMs + moment.atMs - logged.from.atMs, line: AFTER_ALL });
    // Where its queue did not block admission, the log does not say when its pods were ready: at once.
    if (!logged.needs.some(({ starting }) => starting) && this.#admission.isBlocked(record.clusterQueue))
      this.#shrink(job, job.told.needed);
    for (const { when: then, needed, starting } of logged.needs)
      this.#meanwhile(job, when(then), () => this.#shrink(job, needed, starting));
    const { end, evicting, displaced } = logged;
    if (displaced !== undefined && (end === undefined || end.how === 'Waits'))
      // The Job had not ended before it was interrupted.
      return this.#endAfter(job, from, (evicting?.atMs ?? this.#history.endMs) - logged.from.atMs + 1);
    if (end === undefined) return;
    if (evicting !== undefined) this.#meanwhile(job, when(evicting), () => this.#evict(job));
    this.#meanwhile(job, when(end), () => this.#finish(job, end));
  }

  /** Ends a Job by itself, unless it is evicted before. */
  #endAfter(job: ReplayedJob, from: Moment, leastMs: number): void {
    const runTime = this.#runTimes.of(job.life);
    if (runTime === undefined) return;
    this.#meanwhile(job, { atMs: from.atMs + Math.max(runTime.ms, leastMs), line: AFTER_ALL }, () => {
      if (job.state !== 'placed') return;
      if (runTime.isGuess) this.#guessed.add(job.life);
      this.#finish(job, { ...this.#now, how: 'Finished' });
    });
  }

  /** Schedules an event that happens only while the Job has this placement. */
  #meanwhile(job: ReplayedJob, when: Moment, happen: () => void): void {
    const placement = job.ordinal;
    this.#plan(when, () => {
      if (job.ordinal !== placement || (job.state !== 'placed' && job.state !== 'stopping')) return;
      happen();
      // A logged event is followed by the log's own pass.
      if (when.line === AFTER_ALL) this.#lookSoon();
    });
  }

  /** Evicts a Job. It stops as logged, or as others did. */
  #stop(job: ReplayedJob, displaced: Displaced): void {
    job.toStop = displaced;
    const logged = job.logged?.displaced?.atMs === displaced.atMs ? job.logged : undefined;
    if (logged === undefined) {
      const { evictingMs, waitsMs } = this.#runTimes.stopping;
      const later = (ms: number): Moment => ({ atMs: Math.max(this.#now.atMs, displaced.atMs + ms), line: AFTER_ALL });
      this.#meanwhile(job, later(evictingMs), () => this.#evict(job));
      this.#meanwhile(job, later(Math.max(evictingMs, waitsMs)), () => this.#finish(job, { ...this.#now, how: 'Waits' }));
      return;
    }
    const { evicting, end } = logged;
    if (evicting !== undefined) this.#meanwhile(job, evicting, () => this.#evict(job));
    if (end?.how === 'Waits') this.#meanwhile(job, end, () => this.#finish(job, end));
  }

  /** The Job holds quota for this number of pods. `starting`: they are not all ready. */
  #shrink(job: ReplayedJob, needed: LoggedPods | undefined, starting?: true): void {
    if (job.record === undefined || job.state !== 'placed') return;
    const workload = withNeeded(workloadFrom(job.told, job.record), needed);
    this.#admission.holds({ ...workload, phase: 'Admitted', started: starting !== true }, job.record);
  }

  #evict(job: ReplayedJob): void {
    if (job.record === undefined) return;
    const by = job.displaced?.by;
    job.state = 'stopping';
    job.record = { ...endedRecord(job.record, this.#now.atMs), ...(by === undefined ? {} : { preempted: by }) };
    this.#admission.holds({ ...workloadFrom(job.told, job.record), phase: 'Evicting' }, job.record);
  }

  #finish(job: ReplayedJob, { how, told }: Ending): void {
    const last = job.story.at(-1);
    if (last !== undefined) last.toMs = this.#now.atMs;
    if (how === 'Waits' || how === 'Undone') {
      if (job.displaced !== undefined) job.preempted++;
      this.#admission.leaves(job.life.key);
      // The logged record knows which clusters have refused the Job.
      const record = told?.record?.cluster === job.record?.cluster ? told?.record : job.record && endedRecord(job.record, this.#now.atMs);
      job.state = 'waiting';
      if (told !== undefined) job.told = told;
      // A failed write is retried later, at a logged time.
      if (how === 'Undone' && told === undefined && job.logged !== undefined) return;
      this.#wait(job, how === 'Undone' ? job.recordBefore : record);
      return;
    }
    job.state = 'over';
    job.leftMs = this.#now.atMs;
    if (how !== 'Unknown') job.doneMs = this.#now.atMs;
    this.#admission.leaves(job.life.key);
  }

  #wait(job: ReplayedJob, record: AdmissionRecord | undefined): void {
    job.state = 'waiting';
    job.record = record;
    job.recordBefore = record;
    job.displaced = undefined;
    const workload = workloadFrom(job.told, record);
    job.queue = this.#admission.clusterQueueOf(workload) ?? job.queue;
    this.#admission.waits(workload, job.told.arrival);
  }

  #jobOf(life: Life): ReplayedJob {
    const known = this.#jobs.get(life);
    if (known !== undefined) return known;
    const job: ReplayedJob = { life, told: life.told, state: 'waiting', ordinal: 0, story: [], preempted: 0, queue: undefined };
    this.#jobs.set(life, job);
    this.#byKey.set(life.key, job);
    return job;
  }

  #step(each: Step): void {
    if (each.kind !== 'Object' && each.kind !== 'Gone') this.#admission.refresh();
    if (each.kind !== 'Cycle' && each.kind !== 'Looked') this.#hasEnded = false;
    switch (each.kind) {
      case 'Object':
        return this.#setup.set(each.object);
      case 'Gone':
        return this.#setup.gone(each.object);
      case 'Waits': {
        const job = this.#jobOf(each.life);
        job.told = each.told;
        if (job.state === 'waiting') this.#wait(job, job.ordinal === 0 ? each.told.record : (job.record ?? each.told.record));
        return;
      }
      case 'Holds':
        return this.#holds(this.#jobOf(each.life), each.told, each);
      case 'Placed': {
        const job = this.#jobOf(each.life);
        const record = recordFor(each.admission, workloadFrom(job.told, undefined), each.atMs);
        return this.#holds(job, { ...job.told, phase: 'Admitted', record }, each);
      }
      case 'Leaves': {
        const job = this.#jobOf(each.life);
        if (job.state === 'over') return;
        this.#finish(job, { ...each, how: 'Unknown' });
        return this.#lookSoon();
      }
      case 'Cycle':
        if (each.cycle.first === true) this.#beginPass();
        return this.#runCycle();
      case 'Looked':
        if (each.looked.first === true) this.#beginPass();
        while (each.looked.because === 'idle' && !this.#hasEnded) this.#runCycle();
        return;
    }
  }

  #holds(job: ReplayedJob, told: LoggedJob, from: Moment): void {
    const { record } = told;
    // Under this policy the Job has another course already.
    if (record === undefined || job.state !== 'waiting') return;
    job.told = told;
    this.#admission.holds({ ...workloadFrom(told, record), phase: told.phase, started: told.starting !== true }, record);
    job.queue = record.clusterQueue;
    const logged = job.life.placements[job.ordinal];
    this.#place(job, record, logged?.from ?? from);
    if (told.phase !== 'Admitted' && told.phase !== 'Reserved') job.state = 'stopping';
  }
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
