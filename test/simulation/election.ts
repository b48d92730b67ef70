/**
 * Candidates that elect one leader by a Lease: machines that stand still, have the wrong time, or run a tenth too fast or too slow, answers
 * that are late or lost, ways that are closed, a server that goes away, programs that are killed and stopped. Whoever leads writes as fast
 * as it may. No write is sent but by the holder of the Lease; in the end one writes.
 */
import type { Lease } from '../../shared/api/kubernetes.ts';
import { CONFIG_MAPS } from '../../shared/api/resources.ts';
import { fencedClient } from '../../shared/kube/fenced-client.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { runAsLeader } from '../../shared/kube/leader-election.ts';
import { createLeaseHold } from '../../shared/kube/lease-hold.ts';
import { createRateLimiter } from '../../shared/kube/rate-limiter.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../shared/kube/transport.ts';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { createDice, type Dice } from './dice.ts';
import { createMortalClock } from './mortal-clock.ts';
import type { Outcome } from './simulation.ts';

const STORM_MS = 40_000;
/** A leader that hears of nobody gives up after half a minute. */
const CALM_MS = 60_000;
const LAST_MS = 10_000;
const RESTART_MS = 1_000;
/** A connection that is dead is found out, however little its caller cares. */
const REQUEST_TIMEOUT_MS = 20_000;
const LEASE = { namespace: 'kube-system', name: 'lock' };

type Host = {
  readonly name: string;
  /** It stands still until then, on the story's clock. */
  stalledUntilMs: number;
  cutOffUntilMs: number;
  timeErrorMs: number;
  /** How many of its seconds pass in one: no two clocks run alike. */
  readonly rate: number;
  end: (how: 'killed' | 'stopped') => void;
};

/** `unheld`: leaders have only the end of leadership to go by, as without a hold. */
export async function simulateElection(seed: number, print?: (line: string) => void, unheld = false): Promise<Outcome> {
  const clock = new FakeClock();
  const dice = createDice(seed);
  const server = createLeaseServer();
  const violations: string[] = [];
  const faults = new Map<string, number>();
  const lately = new Set<string>();
  let [steps, calls, incarnations, latencyMs, lossChance, awayUntilMs, over] = [0, 0, 0, 5, 0, 0, false];
  const told = (line: string): void => print?.(`${(clock.monotonic() / 1_000).toFixed(3)} ${line}`);
  const struck = (fault: string): void => {
    faults.set(fault, (faults.get(fault) ?? 0) + 1);
    told(fault);
  };

  const transportOf = (host: Host, identity: string, isDead: () => boolean): Transport => ({
    async send(request) {
      calls++;
      const isWrite = request.path.includes('/configmaps');
      if (isWrite && server.lease()?.spec?.holderIdentity !== identity)
        violations.push(`${identity} sends a write while ${server.lease()?.spec?.holderIdentity ?? 'nobody'} holds the Lease`);
      if (isWrite) lately.add(identity);
      await sleep(clock, dice.int(0, latencyMs), request.signal);
      if (clock.monotonic() < host.cutOffUntilMs) {
        await sleep(clock, REQUEST_TIMEOUT_MS, request.signal);
        throw new Error('no answer');
      }
      if (clock.monotonic() < awayUntilMs) throw Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });
      const answer = isWrite ? answerOf(201, { metadata: { name: 'note' } }) : server.answer(request);
      if (!isWrite && request.method !== 'GET') told(`${identity} ${request.method} ${answer.status}`);
      if (dice.chance(lossChance)) throw new Error('connection lost');
      await sleep(clock, dice.int(0, latencyMs), request.signal);
      await awake(host);
      request.signal?.throwIfAborted();
      // What a dead program would hear.
      if (isDead()) await new Promise(() => undefined);
      return answer;
    },
    stream: () => Promise.reject(new Error('nothing is watched')),
    close: async () => undefined,
  });
  const awake = async (host: Host): Promise<void> => {
    while (clock.monotonic() < host.stalledUntilMs) await sleep(clock, host.stalledUntilMs - clock.monotonic());
  };

  const start = (host: Host): void => {
    if (over) return;
    const identity = `${host.name}-${++incarnations}`;
    let isDead = false;
    const mortal = createMortalClock(clock, () => host.timeErrorMs);
    const own: Clock = {
      now: mortal.now,
      monotonic: () => mortal.monotonic() * host.rate,
      schedule(callback, delayMs) {
        let timer = mortal.schedule(fire, delayMs / host.rate);
        function fire(): void {
          const leftMs = host.stalledUntilMs - clock.monotonic();
          if (leftMs > 0) timer = mortal.schedule(fire, leftMs);
          else callback();
        }
        return { cancel: () => timer.cancel() };
      },
    };
    const transport = transportOf(host, identity, () => isDead);
    const stop = new AbortController();
    host.end = (how) => {
      if (how === 'stopped') return stop.abort(new Error('stopped'));
      isDead = true;
      mortal.kill();
      clock.schedule(() => start(host), RESTART_MS);
    };
    const hold = createLeaseHold(own);
    const qps = dice.pick([0, 0, 4]);
    const worker = createKubeClient(transport, {
      userAgent: identity,
      clock: own,
      rateLimiter: createRateLimiter({ qps, burst: 1, clock: own }),
    });
    const lead = async (leading: AbortSignal, lost: AbortSignal): Promise<void> => {
      told(`${identity} leads`);
      const fenced = fencedClient(worker, lost, unheld ? undefined : hold);
      const work = async (): Promise<void> => {
        while (!leading.aborted) {
          try {
            await fenced.create(CONFIG_MAPS, { metadata: { namespace: 'default', name: 'note' } }, { signal: leading });
          } catch (error) {
            told(`${identity} has not written: ${String(error)}`);
          }
          await sleep(own, dice.int(50, 400), leading);
        }
      };
      await Promise.all([work(), work()]);
      told(`${identity} leads no more`);
    };
    const election = { client: createKubeClient(transport, { userAgent: identity, clock: own }), ...LEASE, identity };
    void runAsLeader({ ...election, hold, clock: own, random: dice.random, log: silentLogger }, lead, stop.signal).then(() => {
      if (!isDead) clock.schedule(() => start(host), RESTART_MS);
    });
  };

  const hosts = ['a', 'b', 'c'].slice(0, dice.int(2, 3)).map(
    (name): Host => ({
      name,
      stalledUntilMs: 0,
      cutOffUntilMs: 0,
      timeErrorMs: dice.int(-600_000, 600_000),
      rate: 0.9 + dice.random() * 0.2,
      end: () => undefined,
    }),
  );
  for (const host of hosts) clock.schedule(() => start(host), dice.int(0, 2_000));
  const trouble = troubles(dice, hosts);
  while (clock.monotonic() < STORM_MS) {
    await clock.advance(dice.int(50, 3_000));
    steps++;
    struck(
      trouble(clock.monotonic(), {
        latency: (ms) => (latencyMs = ms),
        loss: (chance) => (lossChance = chance),
        away: (untilMs) => (awayUntilMs = untilMs),
      }),
    );
  }
  [latencyMs, lossChance, awayUntilMs] = [5, 0, 0];
  for (const host of hosts) Object.assign(host, { stalledUntilMs: 0, cutOffUntilMs: 0 });
  await clock.advance(CALM_MS - LAST_MS);
  lately.clear();
  await clock.advance(LAST_MS);
  if (lately.size !== 1) violations.push(`in the calm ${[...lately].join(', ') || 'nobody'} writes, and not one`);
  over = true;
  for (const host of hosts) host.end('killed');
  return {
    seed,
    violations,
    steps,
    simulatedMs: clock.monotonic(),
    jobsFinished: 0,
    podsEnded: 0,
    calls,
    incarnations,
    faults,
  };
}

type World = { latency(ms: number): void; loss(chance: number): void; away(untilMs: number): void };

/** Something happens to somebody; returns its name. */
function troubles(dice: Dice, hosts: readonly Host[]): (nowMs: number, world: World) => string {
  return (nowMs, world) => {
    const host = dice.some(hosts);
    if (host === undefined) return 'nothing';
    switch (dice.int(0, 9)) {
      case 0:
      case 1:
      case 2:
        host.stalledUntilMs = nowMs + dice.pick([dice.int(100, 1_500), dice.int(1_500, 4_000), dice.int(4_000, 20_000)]);
        return `machine ${host.name} stands still`;
      case 3:
      case 4:
        host.cutOffUntilMs = nowMs + dice.int(500, 15_000);
        return `way of ${host.name} closed`;
      case 5:
        world.away(nowMs + dice.int(500, 12_000));
        return 'server away';
      case 6:
        world.latency(dice.pick([5, 5, 500, 2_000, 4_000]));
        return 'latency';
      case 7:
        world.loss(dice.pick([0, 0.1, 0.4]));
        return 'lost answers';
      case 8:
        host.timeErrorMs += dice.int(-600_000, 600_000);
        return `time of ${host.name} set`;
      default: {
        const how = dice.pick(['killed', 'stopped']);
        host.end(how === 'killed' ? 'killed' : 'stopped');
        return `${host.name} ${how}`;
      }
    }
  };
}

/** One Lease with optimistic concurrency. */
function createLeaseServer(): { lease(): Lease | undefined; answer(request: TransportRequest): TransportResponse } {
  let lease: Lease | undefined;
  let version = 0;
  return {
    lease: () => lease,
    answer({ method, body = '{}' }) {
      if (method === 'GET') return lease === undefined ? refusal(404, 'NotFound') : answerOf(200, lease);
      const sent = JSON.parse(body) as Lease;
      if (method === 'POST' && lease !== undefined) return refusal(409, 'AlreadyExists');
      if (method === 'PUT' && sent.metadata.resourceVersion !== lease?.metadata.resourceVersion) return refusal(409, 'Conflict');
      lease = { ...sent, metadata: { ...sent.metadata, uid: 'lease', resourceVersion: String(++version) } };
      return answerOf(200, lease);
    },
  };
}

const answerOf = (status: number, body: object): TransportResponse => ({ status, headers: {}, body: JSON.stringify(body) });
const refusal = (code: number, reason: string): TransportResponse => answerOf(code, { kind: 'Status', code, reason });
