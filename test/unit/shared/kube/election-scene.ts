/** Candidates for one Lease on a server that can be cut off, be slow, and be restored. */
import type { Lease } from '../../../../shared/api/kubernetes.ts';
import { createKubeClient } from '../../../../shared/kube/kube-client.ts';
import { runAsLeader } from '../../../../shared/kube/leader-election.ts';
import { createLeaseHold } from '../../../../shared/kube/lease-hold.ts';
import type { Transport } from '../../../../shared/kube/transport.ts';
import { sleep } from '../../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../../shared/runtime/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const refusal = (code: number, reason: string) => ({ status: code, headers: {}, body: JSON.stringify({ kind: 'Status', code, reason }) });

/** A server that holds one Lease, with optimistic concurrency; it can be cut off, per identity. */
class LeaseServer {
  lease: Lease | undefined;
  readonly cutOff = new Set<string>();
  /** What is written under this identity is carried out; the answer waits for this. */
  readonly heldAnswers = new Map<string, Promise<void>>();
  /** Writes are answered with a conflict, though nobody else has written. */
  alwaysConflicts = false;
  /** The next write is carried out, and its answer is lost. */
  losesNextAnswer = false;
  writes = 0;
  /** What is sent is carried out after half of this time. */
  answerMs = 0;
  readonly #clock: FakeClock;
  #version = 0;
  #made = 0;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  /** Puts the Lease back to what it was, in a store that others have written on since. */
  restore(lease: Lease | undefined): void {
    this.lease = lease;
    this.#version += 1_000;
  }

  transport(identity: string): Transport {
    return {
      send: async ({ method, body = '{}', signal }) => {
        if (this.cutOff.has(identity)) {
          // A black hole: no answer until the caller gives up.
          await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true }));
        }
        if (this.answerMs > 0) await sleep(this.#clock, this.answerMs / 2, signal);
        if (method === 'GET') return this.lease === undefined ? refusal(404, 'NotFound') : this.#ok();
        const sent = JSON.parse(body) as Lease;
        if (++this.writes > 1000) throw new Error('the server has had enough');
        if (this.alwaysConflicts) return refusal(409, 'Conflict');
        if (method === 'POST' && this.lease !== undefined) return refusal(409, 'AlreadyExists');
        if (method === 'PUT' && sent.metadata.resourceVersion !== this.lease?.metadata.resourceVersion) return refusal(409, 'Conflict');
        const uid = method === 'POST' ? `lease-${++this.#made}` : sent.metadata.uid;
        this.lease = { ...sent, metadata: { ...sent.metadata, uid, resourceVersion: String(++this.#version) } };
        if (this.losesNextAnswer) {
          this.losesNextAnswer = false;
          throw new Error('connection lost');
        }
        const answer = this.#ok();
        await this.heldAnswers.get(identity);
        if (this.answerMs > 0) await sleep(this.#clock, this.answerMs / 2, signal);
        signal?.throwIfAborted();
        return answer;
      },
      stream: () => Promise.reject(new Error('unused')),
      close: async () => undefined,
    };
  }

  #ok() {
    return { status: 200, headers: {}, body: JSON.stringify(this.lease) };
  }
}

export function aWorld() {
  const clock = new FakeClock();
  const server = new LeaseServer(clock);
  const leaders: string[] = [];
  const log: string[] = [];
  /** When a candidate expected to lead soon, on the clock's `monotonic`. */
  const expectedAtMs: number[] = [];
  const candidate = (identity: string, seed: number) => {
    const controller = new AbortController();
    const client = createKubeClient(server.transport(identity), { userAgent: identity, clock });
    const wentBack: string[] = [];
    let waits = false;
    const hold = createLeaseHold(clock);
    const options = {
      client,
      hold,
      namespace: 'kube-system',
      name: 'lock',
      identity,
      clock,
      random: seededRandom(seed),
      log: silentLogger,
      onWentBack: ({ message }: Error) => void wentBack.push(message),
      onWaiting: () => void (waits = true),
      onExpiring: () => void expectedAtMs.push(clock.monotonic()),
    };
    const ended = runAsLeader(
      options,
      async (signal) => {
        leaders.push(identity);
        log.push(`${identity} leads`);
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
        leaders.splice(leaders.indexOf(identity), 1);
        log.push(`${identity} stops`);
      },
      controller.signal,
    );
    /** Whether it leads and a write of it would be sent now. */
    const mayWrite = async (): Promise<boolean> => {
      let may = false;
      const asking = new AbortController();
      const asked = hold.writable(asking.signal).then(
        () => (may = true),
        () => undefined,
      );
      await Promise.resolve();
      await Promise.resolve();
      asking.abort(new Error('asked'));
      await asked;
      return may && leaders.includes(identity);
    };
    return { stop: () => controller.abort(new Error('stop')), ended, wentBack, waits: () => waits, mayWrite };
  };
  return { clock, server, leaders, log, expectedAtMs, candidate };
}
