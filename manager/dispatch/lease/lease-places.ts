/**
 * Our Leases on one worker cluster, and those of its worker, by the namespaces in which they may be. Where there are two, the second is
 * that of earlier releases: a manager of one knows of no other, and neither does a worker. So both are kept while there is a trace of
 * either in it.
 */
import { originLeaseName, workerLeaseName } from '../../../shared/api/fence-leases.ts';
import { BUILT_IN_JOB_CONTROLLER_NAME, DEFAULT_LEASE_NAMESPACE } from '../../../shared/api/names.ts';
import { LEASES } from '../../../shared/api/resources.ts';
import { isNotFound } from '../../../shared/kube/api-error.ts';
import { withDeadline } from '../../../shared/runtime/deadline.ts';
import { aborted } from '../../../shared/runtime/tasks.ts';
import { createClusterLease, type ClusterLease, type ClusterLeaseOptions, type LeaseKept } from './cluster-lease.ts';
import type { ProbeRefusal } from '../cluster/cluster-health.ts';
import { isGone, type WorkerFinding } from '../cluster/worker-finding.ts';
import { createWorkerWatch, longestFence, type ShownFence, type WorkerWatch, type WorkerWatchOptions } from './worker-watch.ts';

export type LeasePlacesOptions = Omit<ClusterLeaseOptions, 'namespace'> & {
  /** See `leaseNamespaces` of shared/api/fence-leases.ts. */
  readonly leaseNamespaces: readonly string[];
  readonly watching: Omit<WorkerWatchOptions, 'namespace' | 'onChanged'>;
  /** The Lease of a worker has changed. */
  readonly onChanged: () => void;
  /** {@link LeasePlaces.keep} is due now. */
  readonly onDue: () => void;
};

export interface LeasePlaces extends Pick<ClusterLease, 'isHeld' | 'gains' | 'sentMs' | 'dueInMs' | 'release'> {
  /**
   * Takes our Leases, or renews those that are due. A namespace whose Leases are refused to us is left out while we hold one in the other;
   * all of them together are refused otherwise.
   */
  keep(clusterUid: string, signal: AbortSignal): Promise<LeaseKept>;
  /** A fence token that its worker asks for and that is not answered in the namespace where it does; see {@link WorkerWatch.fenceToken}. */
  tokenAsked(shown: ShownFence | undefined): string | undefined;
  /** The next renewals are to answer this token where it is asked for; undefined: no token is answered any longer. */
  confirm(token: string | undefined, shown?: ShownFence): void;
  /** Of two workers that are alive the first counts, with the longer fence. */
  finding(inReach: boolean): WorkerFinding;
  isBuiltIn(): boolean;
  /** Where the worker says that it is, or where it would. */
  namespace(): string;
  /** Watches the Leases of workers in namespaces that are open to us. Call once. */
  run(signal: AbortSignal): Promise<void>;
}

/** Untried: whether it is open to us is not known. Shut: it is not, or nobody is there, and it counts for nothing. */
type Place = {
  readonly namespace: string;
  readonly lease: ClusterLease;
  state: 'Untried' | 'Open' | 'Shut';
  /** A shut one is to be tried again. */
  again: boolean;
  /** When it was tried last, on the clock's `monotonic`. */
  triedMs: number;
  watch: WorkerWatch | undefined;
  /** What the worker there was last seen to ask for. */
  token: string | undefined;
  closed: AbortController;
};

const TRACE_TIMEOUT_MS = 5_000;
const SHUT_AGAIN_MS = 10_000;

export const createLeasePlaces = (options: LeasePlacesOptions): LeasePlaces => new Places(options);

class Places implements LeasePlaces {
  readonly #options: LeasePlacesOptions;
  /** The one that counts comes first. */
  readonly #places: readonly Place[];
  readonly #running = new Set<Promise<void>>();
  #signal: AbortSignal | undefined;

  constructor(options: LeasePlacesOptions) {
    this.#options = options;
    this.#places = options.leaseNamespaces.map((namespace) => ({
      namespace,
      lease: createClusterLease({ ...options, namespace }),
      state: 'Untried',
      again: false,
      triedMs: Number.NEGATIVE_INFINITY,
      watch: undefined,
      token: undefined,
      closed: new AbortController(),
    }));
  }

  async keep(clusterUid: string, signal: AbortSignal): Promise<LeaseKept> {
    const refusals = new Map<Place, ProbeRefusal>();
    const kept = async (place: Place): Promise<LeaseKept | undefined> => {
      const found = await place.lease.keep(clusterUid, signal);
      if (found.kind === 'Held') this.#open(place);
      else if (found.kind === 'Refused' && found.reason === 'LeaseForbidden') {
        this.#shut(place, found.message);
        refusals.set(place, found);
      } else return found;
      return undefined;
    };
    // A manager of an earlier release may hold the one of before, and is heard there first.
    for (const place of this.#places.toReversed()) {
      if (this.#dueInMsOf(place) > 0) continue;
      place.again = false;
      place.triedMs = this.#options.clock.monotonic();
      const isUnused = place !== this.#places[0] && place.state !== 'Open' && !(await this.#hasTrace(place, signal));
      const found = isUnused ? this.#shut(place) : await kept(place);
      if (found !== undefined) return found;
    }
    if (this.#opened.length > 0) return { kind: 'Held' };
    // Without the first one Leases are where they were in earlier releases, or are made there.
    for (const place of this.#places.slice(1)) {
      const found = refusals.has(place) ? undefined : await kept(place);
      if (found !== undefined) return found;
    }
    if (this.#opened.length > 0) return { kind: 'Held' };
    const [refusal] = this.#places.flatMap((place) => refusals.get(place) ?? []);
    return refusal ?? { kind: 'Refused', reason: 'LeaseForbidden', message: 'no namespace of Leases is open to the manager' };
  }

  dueInMs(): number {
    return Math.min(...this.#places.map((place) => this.#dueInMsOf(place)));
  }

  /**
   * While no worker is seen where it was looked for, the namespace of its Lease may be about to be made. While none is open, as after a
   * create whose answer was lost, all are tried again.
   */
  #dueInMsOf(place: Place): number {
    const { state, again, lease, triedMs } = place;
    if (state === 'Open') return lease.dueInMs();
    if (state === 'Untried' || again || this.#opened.length === 0) return 0;
    return this.finding(true).kind === 'None'
      ? Math.max(0, triedMs + SHUT_AGAIN_MS - this.#options.clock.monotonic())
      : Number.POSITIVE_INFINITY;
  }

  isHeld(): boolean {
    const counting = this.#places.filter(({ state }) => state !== 'Shut');
    return counting.length > 0 && counting.every(({ state, lease }) => state === 'Open' && lease.isHeld());
  }

  gains(): number {
    return this.#places.reduce((sum, { lease }) => sum + lease.gains(), 0);
  }

  sentMs(): number | undefined {
    const sent = this.#places.flatMap(({ lease }) => lease.sentMs() ?? []);
    return sent.length === 0 ? undefined : Math.max(...sent);
  }

  tokenAsked(shown: ShownFence | undefined): string | undefined {
    const unanswered = this.#opened.flatMap(({ lease, watch }) => {
      const token = watch?.fenceToken(shown);
      return token === undefined || token === lease.confirmed() ? [] : [token];
    });
    return unanswered[0];
  }

  confirm(token: string | undefined, shown?: ShownFence): void {
    for (const { lease, watch } of this.#places) if (token === undefined || watch?.fenceToken(shown) === token) lease.confirm(token);
  }

  async release(): Promise<void> {
    await Promise.all(this.#opened.map(({ lease }) => lease.release()));
  }

  finding(inReach: boolean): WorkerFinding {
    const findings = this.#opened.flatMap(({ watch }) => watch?.finding(inReach) ?? []);
    const announced = findings.flatMap((each) => (each.kind === 'Announced' ? [each] : []));
    const alive = announced.filter(({ pulse }) => !isGone(pulse));
    const [first] = alive;
    if (findings.length === 0 || findings.some(({ kind }) => kind === 'OutOfSight')) return { kind: 'OutOfSight' };
    if (first !== undefined) {
      const fenceAfterSeconds = longestFence(alive.map(({ worker }) => worker.fenceAfterSeconds ?? 0));
      const [kinds = [], ...others] = alive.map(({ worker }) => worker.fencedKinds ?? []);
      const fencedKinds = kinds.filter((kind) => others.every((each) => each.includes(kind)));
      const { fencedKinds: _kinds, ...said } = first.worker;
      return { ...first, worker: { ...said, fenceAfterSeconds, ...(fencedKinds.length === 0 ? {} : { fencedKinds }) } };
    }
    return announced[0] ?? findings.find(({ kind }) => kind === 'Other') ?? findings[0] ?? { kind: 'OutOfSight' };
  }

  isBuiltIn(): boolean {
    return (
      this.#options.watching.jobController === BUILT_IN_JOB_CONTROLLER_NAME &&
      this.#opened.every(({ watch }) => watch?.isBuiltIn() !== false)
    );
  }

  namespace(): string {
    const [place = this.#places[0]] = this.#opened;
    return place?.namespace ?? DEFAULT_LEASE_NAMESPACE;
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    for (const place of this.#opened) this.#follow(place);
    await aborted(signal);
    await Promise.all(this.#running);
  }

  get #opened(): readonly Place[] {
    return this.#places.filter(({ state }) => state === 'Open');
  }

  #open(place: Place): void {
    if (place.state === 'Open') return;
    const { watching } = this.#options;
    place.state = 'Open';
    place.token = undefined;
    place.closed = new AbortController();
    place.watch = createWorkerWatch({ ...watching, namespace: place.namespace, onChanged: () => this.#changed(place) });
    this.#follow(place);
  }

  #follow(place: Place): void {
    if (this.#signal === undefined || this.#signal.aborted || place.watch === undefined) return;
    const run = place.watch.run(AbortSignal.any([this.#signal, place.closed.signal])).finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  #shut(place: Place, why?: string): undefined {
    if (place.state === 'Open')
      this.#options.log.warn('the Leases in a namespace are no longer open to the manager', { namespace: place.namespace, why });
    place.state = 'Shut';
    place.watch = undefined;
    place.closed.abort(new Error('the Leases there are not open to the manager'));
  }

  /** A worker that was started anew may be of another release, which looks elsewhere. */
  #changed(place: Place): void {
    const token = place.watch?.fenceToken(undefined);
    const isNew = token !== undefined && place.token !== undefined && token !== place.token;
    place.token = token ?? place.token;
    if (isNew) {
      for (const other of this.#places) other.again = other.state === 'Shut';
      if (this.#places.some(({ again }) => again)) this.#options.onDue();
    }
    this.#options.onChanged();
  }

  /** Whether a manager of our id or a worker has ever had a Lease there. What cannot be asked is for the Lease to find out. */
  async #hasTrace({ namespace }: Place, signal: AbortSignal): Promise<boolean> {
    const { client, clock, origin, watching } = this.#options;
    for (const name of [originLeaseName(origin), workerLeaseName(watching.jobController)]) {
      try {
        await withDeadline(clock, TRACE_TIMEOUT_MS, signal, (each) => client.get(LEASES, { namespace, name }, { signal: each }));
        return true;
      } catch (error) {
        if (!isNotFound(error)) return true;
      }
    }
    return false;
  }
}
