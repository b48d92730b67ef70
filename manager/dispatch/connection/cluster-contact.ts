import type { WorkObject } from '../../../shared/api/kubernetes.ts';
import type { Informer } from '../../../shared/kube/informer.ts';
import { WentBack } from '../../../shared/kube/reflector.ts';
import { isOlder } from '../../../shared/kube/resource-version.ts';
import type { UnusableAnswer } from '../../../shared/kube/unusable-answer.ts';
import { sleep } from '../../../shared/runtime/clock.ts';
import { onAbort } from '../../../shared/runtime/tasks.ts';
import {
  afterLateAnswer,
  afterProbe,
  type ClusterFault,
  type ClusterHealth,
  NEVER_PROBED,
  type ProbeResult,
  withFault,
} from '../cluster/cluster-health.ts';
import type { IdentityProblem } from '../cluster/cluster-identities.ts';
import { type ClusterProbe, createClusterProbe } from '../cluster/cluster-probe.ts';
import type { LeaseKept } from '../lease/cluster-lease.ts';
import type { LeasePlaces } from '../lease/lease-places.ts';
import type { Contact } from '../mirror/mirror-group.ts';
import type { Served } from './informer-of-served.ts';
import type { RemoteClusterOptions } from './remote-cluster-contract.ts';

/** Whether one worker cluster can be used: probes it, and renews the Lease there. */
export interface ClusterContact {
  health(): ClusterHealth;
  /** Contact counts as lost once the Lease was not renewed in time, as after a pause of the process: another manager may hold it. */
  contact(): Contact;
  /** Resolves when the cluster may be used and the Lease there is held, or when the connection is stopped. */
  readonly usable: Promise<void>;
  /** Aborts when the cluster went back in time: only probes of the next connection count. */
  readonly restored: AbortSignal;
  /** A list or watch has met a fault; undefined: it has none any more. */
  faultChanged(source: string, error: UnusableAnswer | undefined): void;
  wentBack(error: Error): void;
  /** Judges the health again, as what informers know has changed. */
  judgeAgain(): void;
  /** Ends the wait for the next probe or renewal. */
  wake(): void;
  /** Probes and renews until `signal` aborts or the cluster went back in time. */
  run(signal: AbortSignal): Promise<void>;
}

export type ClusterContactDeps = Pick<
  RemoteClusterOptions,
  'kind' | 'client' | 'origin' | 'servedNamespaces' | 'clock' | 'identify' | 'homeJudged' | 'onFault' | 'onRestored'
> & {
  readonly copies: Pick<Informer<WorkObject>, 'hasSynced' | 'waitForSync' | 'lastHeardMs'>;
  readonly served: Pick<Served, 'versions' | 'unreadable'>;
  readonly leases: Pick<LeasePlaces, 'isHeld' | 'sentMs' | 'dueInMs' | 'gains' | 'keep'>;
  /** The cluster counts as lost. */
  readonly onLost: () => void;
  /** The cluster was lost, and answers again. */
  readonly onFound: () => void;
  readonly onProbed: () => void;
  readonly onHealth: () => void;
  readonly onContactChanged: () => void;
};

const PROBE_INTERVAL_MS = 10_000;

/** Interval while the cluster does not answer, or its Jobs are not listed yet. */
const PROBE_AGAIN_MS = 1_000;

/** Interval while the cluster refuses the manager, or the manager refuses the cluster: this ends when a user changes something. */
const PROBE_REFUSED_MS = 5_000;

/** A watch is reopened after 130 s of silence, as bookmarks come about once a minute. */
const UNHEARD_MS = 150_000;

export function createClusterContact(deps: ClusterContactDeps): ClusterContact {
  return new ProbedContact(deps);
}

class ProbedContact implements ClusterContact {
  readonly #deps: ClusterContactDeps;
  readonly #prober: ClusterProbe;
  readonly #becameUsable = Promise.withResolvers<void>();
  #isUsed = false;
  #wakeUp = Promise.withResolvers<void>();
  #uid = '';
  /** Faults by the list or watch that they come from. */
  readonly #faults = new Map<string, ClusterFault>();
  readonly #restored = new AbortController();
  #health = NEVER_PROBED;

  constructor(deps: ClusterContactDeps) {
    this.#deps = deps;
    const { kind, client, origin, servedNamespaces, clock } = deps;
    this.#prober = createClusterProbe({
      kind,
      client,
      origin,
      servedNamespaces,
      clock,
      onLate: (failure) => this.#becomes(afterLateAnswer(this.#health, failure, clock.now())),
      identify: (uid) => this.#identify(uid),
    });
  }

  get usable(): Promise<void> {
    return this.#becameUsable.promise;
  }

  get restored(): AbortSignal {
    return this.#restored.signal;
  }

  health(): ClusterHealth {
    return this.#health;
  }

  contact(): Contact {
    const { contact } = this.#health;
    return contact === 'Ready' && !this.#deps.leases.isHeld() ? 'Lost' : contact;
  }

  judgeAgain(): void {
    this.#becomes(this.#health);
  }

  wake(): void {
    this.#wakeUp.resolve();
  }

  faultChanged(source: string, error: UnusableAnswer | undefined): void {
    if (error === undefined) {
      // The next probe reports any other fault.
      this.#faults.delete(source);
      return;
    }
    const fault = { reason: error.fault, message: `its ${source.split('/')[0]} cannot be known: ${error.message}` };
    this.#faults.set(source, fault);
    this.#deps.onFault(error.fault);
    this.#becomes(withFault(this.#health, fault, this.#deps.clock.now()));
  }

  wentBack(error: Error): void {
    if (this.#restored.signal.aborted) return;
    this.#becomes({ ...this.#health, contact: 'Connecting', reason: 'Restored', message: `${error.message}: it is listed anew` });
    this.#restored.abort(error);
    this.#deps.onRestored(error);
  }

  async run(signal: AbortSignal): Promise<void> {
    onAbort(signal, this.#becameUsable.resolve);
    while (!signal.aborted && !this.#restored.signal.aborted) {
      const probe = await this.#ask(signal);
      if (signal.aborted) return;
      this.#becomes(afterProbe(this.#health, probe, this.#deps.clock.now()));
      this.#deps.onProbed();
      await (probe.kind === 'Refused' ? sleep(this.#deps.clock, PROBE_REFUSED_MS, signal) : this.#untilNextProbe(signal));
    }
  }

  async #identify(uid: string): Promise<IdentityProblem | undefined> {
    const problem = await this.#deps.identify(uid);
    if (problem === undefined) this.#uid = uid;
    return problem;
  }

  #becomes(found: ClusterHealth): void {
    if (this.#restored.signal.aborted) return;
    const { leases, served } = this.#deps;
    const before = this.#health;
    const next = { ...found, renewalSentMs: leases.sentMs(), unheard: this.#isUnheard(), unreadable: served.unreadable() };
    this.#health = next;
    if (before.contact === 'Lost' && next.contact !== 'Lost') this.#deps.onFound();
    if (next.contact === 'Lost') this.#deps.onLost();
    this.#deps.onHealth();
    if (before.contact !== next.contact) this.#deps.onContactChanged();
  }

  #isUnheard(): boolean {
    const { copies, clock } = this.#deps;
    return copies.hasSynced() && clock.monotonic() - copies.lastHeardMs() > UNHEARD_MS;
  }

  async #untilNextProbe(signal: AbortSignal): Promise<void> {
    const { clock, copies } = this.#deps;
    const { contact, connected, failures } = this.#health;
    if ((contact === 'Ready' || this.#faults.size > 0) && failures === 0)
      return this.#renewUntil(clock.monotonic() + PROBE_INTERVAL_MS, signal);
    const done = new AbortController();
    const until = AbortSignal.any([signal, done.signal]);
    // The cluster answers: only its first list is missing.
    const listed =
      connected && contact === 'Connecting' ? [copies.waitForSync(until).catch(() => sleep(clock, PROBE_AGAIN_MS, signal))] : [];
    await Promise.race([sleep(clock, PROBE_AGAIN_MS, until), ...listed]);
    done.abort();
  }

  /** Renews the Lease whenever due, until the next probe is due, or a renewal fails: then a probe follows at once. */
  async #renewUntil(endMs: number, signal: AbortSignal): Promise<void> {
    const { clock, leases } = this.#deps;
    for (;;) {
      const leftMs = endMs - clock.monotonic();
      if (leftMs <= 0 || signal.aborted) return;
      const dueMs = leases.dueInMs();
      if (dueMs > 0) {
        const done = new AbortController();
        await Promise.race([this.#wakeUp.promise, sleep(clock, Math.min(leftMs, dueMs), AbortSignal.any([signal, done.signal]))]);
        done.abort();
        this.#wakeUp = Promise.withResolvers();
        continue;
      }
      const kept = await this.#keepLease(signal);
      if (kept.kind === 'Held') continue;
      if (!signal.aborted && kept.kind !== 'WentBack') this.#becomes(afterProbe(this.#health, kept, clock.now()));
      return;
    }
  }

  async #keepLease(signal: AbortSignal): Promise<LeaseKept> {
    const { leases } = this.#deps;
    const before = leases.gains();
    const kept = await leases.keep(this.#uid, signal);
    // While the Lease was not held, the cluster counted as lost.
    if (this.#health.contact === 'Ready' && kept.kind === 'Held' && leases.gains() > before) this.#deps.onContactChanged();
    if (kept.kind === 'WentBack') this.wentBack(kept.error);
    return kept;
  }

  /** The Lease is renewed only once the cluster has answered another request. */
  async #ask(signal: AbortSignal): Promise<ProbeResult> {
    const { copies, served, leases } = this.#deps;
    const versions = served.versions();
    const answer = await this.#prober.ask(this.#faults.size > 0, signal);
    if (answer.kind !== 'Answered') return answer;
    const { resourceVersion = '', namespace } = answer;
    const seen = versions.get(namespace) ?? '';
    if (isOlder(resourceVersion, seen)) {
      this.wentBack(new WentBack('jobs', seen, resourceVersion));
      return { ...answer, synced: false };
    }
    if (leases.dueInMs() <= 0) {
      const kept = await this.#keepLease(signal);
      if (kept.kind === 'WentBack') return { ...answer, synced: false };
      if (kept.kind !== 'Held') return kept;
    }
    // Versions of the manager cluster stored here are judged before this cluster is used; running copies do not wait for this.
    if (!this.#isUsed && !(await this.#deps.homeJudged(signal))) return { ...answer, synced: false };
    this.#isUsed = true;
    this.#becameUsable.resolve();
    const [fault] = this.#faults.values();
    return { ...answer, synced: copies.hasSynced(), fault };
  }
}
