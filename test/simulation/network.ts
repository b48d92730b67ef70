/**
 * The way from a worker to its API server, on which anything may go wrong: requests that never arrive, answers that never
 * come back, requests that are carried out after everybody has given them up, refusals, slow and broken watches, partitions,
 * and the death of the process between any two calls.
 */
import type { Transport, TransportRequest, TransportResponse, TransportStream } from '../../shared/kube/transport.ts';
import { type Clock, sleep } from '../../shared/runtime/clock.ts';
import { firstAbort } from '../../shared/runtime/first-abort.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { Dice } from './dice.ts';
import { createRemovals, type Removals } from './removals.ts';

export type FaultKind =
  | 'refused'
  | 'throttled'
  | 'request lost'
  | 'answer lost'
  | 'done late'
  | 'conflict'
  | 'over quota'
  | 'slow request'
  | 'slow answer'
  | 'watch cut'
  | 'watch expired'
  | 'watch late'
  | 'partition'
  | 'one-way partition'
  | 'black hole'
  | 'slow list'
  | 'crash before a call'
  | 'crash after a call'
  | 'deletion refused'
  | 'deletion timed out'
  | 'status lost';

/**
 * What the way to the server suffers for a while. Partition: nothing gets through, and what was sent breaks at the end. One-way: requests
 * arrive and are carried out, answers and events do not come back. Black hole: connections are taken, and nothing is ever answered.
 */
export type Outage = 'partition' | 'one-way partition' | 'black hole';
/**
 * The next request that it strikes is carried out, and its answer lost. `spring` is called just before, and says what becomes of the
 * process.
 */
export type Ambush = {
  readonly strikes: (process: string, request: TransportRequest) => boolean;
  readonly spring: () => 'Lives' | 'Dies';
};
/** A server that is overloaded: requests that it strikes are taken up so late. */
export type Delay = { readonly strikes: (process: string, request: TransportRequest) => boolean; readonly ms: number };
type Trouble = { readonly kind: Outage; readonly untilMs: number; readonly strikes: (process: string) => boolean };

export type Weather = {
  /** Share of the requests on which something goes wrong. */
  readonly faults: number;
  /** Share of the requests at which the process dies. */
  readonly crashes: number;
  readonly latencyMs: number;
  /** How late watch events may be, apart by what they tell of: a worker's caches need not agree on the time. */
  readonly jobLagMs: number;
  readonly podLagMs: number;
  /** Share of the patches of pods that are done, and whose answer is lost. */
  readonly lostPatches: number;
  /** Share of the pods that may not be deleted, some for a while and some for good: fair weather does not change that. */
  readonly protectedPods: number;
  /** Share of the writes of a status of which no answer comes back: one half is done, the other never arrives. */
  readonly lostStatuses: number;
  /** Share of the lists of which each page takes long. */
  readonly slowLists: number;
};

export const FAIR: Weather = {
  faults: 0,
  crashes: 0,
  latencyMs: 0,
  jobLagMs: 0,
  podLagMs: 0,
  lostPatches: 0,
  protectedPods: 0,
  lostStatuses: 0,
  slowLists: 0,
};

export interface Network {
  weather: Weather;
  readonly faults: Map<FaultKind, number>;
  /** Pod creations of a Job (by UID) that may have happened although the worker was told otherwise. */
  readonly doubtfulCreations: Map<string, number>;
  /** Jobs (by UID) of which a status may have been written although the worker was told otherwise. */
  readonly doubtfulStatuses: Set<string>;
  /** Calls of all workers, watches and the renewal of the lease left out. */
  calls(): number;
  /** Those of them that change something. */
  writes(): number;
  /** What a worker should not have asked for, in words. */
  readonly invalid: string[];
  /** Status writes that the server's rules did not allow, in words. */
  readonly refusedStatuses: string[];
  readonly removals: Removals;
  /** For this long the ways of these processes suffer an outage, those of processes that start meanwhile included. */
  disturb(outage: Outage, forMs: number, strikes: (process: string) => boolean): void;
  /** From now on this lies in wait, and nothing that did before; undefined: nothing does. */
  ambush(next: Ambush | undefined): void;
  /** For this long the server is overloaded so, and in no other way. */
  overload(delay: Delay, forMs: number): void;
  /** Outages that have not ended. */
  disturbed(): boolean;
  /** The way of one process. */
  connect(name: string, clock: Clock, crash: () => void): Line;
}

export interface Line extends Transport {
  /** Lets nothing through any more, in either direction. */
  kill(): void;
  /** From now on each write is reported: this process has no right to write. */
  forbidWrites(why: string): void;
}

export function createNetwork(server: () => Transport, clock: Clock, dice: Dice, trace: (line: string) => void): Network {
  const faults = new Map<FaultKind, number>();
  const doubtfulCreations = new Map<string, number>();
  const doubtfulStatuses = new Set<string>();
  const invalid: string[] = [];
  const refusedStatuses: string[] = [];
  const removals = createRemovals(clock, dice);
  let calls = 0;
  let writes = 0;
  let troubles: Trouble[] = [];
  let ambush: Ambush | undefined;
  let overload: (Delay & { readonly untilMs: number }) | undefined;

  const troubleOf = (process: string): Trouble | undefined =>
    troubles.find(({ untilMs, strikes }) => untilMs > clock.now() && strikes(process));
  const note = (kind: FaultKind, name: string, what: string): void => {
    faults.set(kind, (faults.get(kind) ?? 0) + 1);
    trace(`${name}: ${kind}: ${what}`);
  };
  const doubt = (request: TransportRequest): void => {
    const uid = jobOf(request);
    if (uid === undefined) return;
    if (request.method === 'PUT') doubtfulStatuses.add(uid);
    else doubtfulCreations.set(uid, (doubtfulCreations.get(uid) ?? 0) + 1);
  };

  function connect(name: string, mortal: Clock, crash: () => void): Line {
    const transport = server();
    const death = new AbortController();
    /** UIDs of Jobs of which this process was told that they are gone. */
    const goneJobs = new Set<string>();
    let forbidden: string | undefined;
    const isDead = (): boolean => death.signal.aborted;

    async function send(request: TransportRequest): Promise<TransportResponse> {
      const what = `${request.method} ${request.path}`;
      if (isDead()) return never();
      request.signal?.throwIfAborted();
      const isLease = request.path.includes('/leases');
      if (!isLease) calls++;
      if (calls > CALLS_MAX) return runaway();
      if (!isLease && request.method !== 'GET' && !countsLoss(request)) writes++;
      if (forbidden !== undefined && request.method !== 'GET' && !isLease) invalid.push(`${name}: ${what} after ${forbidden}`);
      if (goneJobs.has(jobOf(request) ?? '')) invalid.push(`${name}: ${what} for a Job that it knows to be gone`);
      const failed = removals.note(request);
      await waitUp(request, 'slow request');
      await throughOutages(request, () => transport.send(withoutSignal(request)), REQUEST_TIMEOUT_MS);
      await queue(request);
      if (network.weather.slowLists > 0 && isList(request) && dice.chance(network.weather.slowLists)) await slowly(request);
      if (!isLease && dice.chance(network.weather.crashes)) return die(request, what);
      request.signal?.throwIfAborted();
      if (ambush?.strikes(name, request) === true) return caught(ambush, request, what);
      const fault = faultOn(request);
      if (fault !== undefined) note(fault, name, what);
      if (fault !== undefined) failed();
      switch (fault) {
        case 'deletion timed out':
          throw new Error(`timeout: ${what}`);
        case 'status lost':
          doubt(request);
          if (dice.chance(0.5)) await deliver(request);
          throw new Error(`connection lost: ${what}`);
        case 'request lost':
          throw new Error(`connection lost: ${what}`);
        case 'answer lost':
          doubt(request);
          await deliver(request);
          throw new Error(`connection lost: ${what}`);
        case 'done late':
          doubt(request);
          clock.schedule(() => void transport.send(withoutSignal(request)), dice.int(1, 5000));
          throw new Error(`timeout: ${what}`);
        case undefined:
          break;
        default:
          return refusalOf(fault, dice);
      }
      const response = await deliver(request);
      await waitUp(request, 'slow answer');
      if (isGone(request, response)) goneJobs.add(jobOf(request) ?? '');
      return isDead() ? never() : response;
    }

    async function caught({ spring }: Ambush, request: TransportRequest, what: string): Promise<never> {
      ambush = undefined;
      const becomes = spring();
      note(becomes === 'Dies' ? 'crash after a call' : 'answer lost', name, what);
      await deliver(withoutSignal(request));
      if (becomes === 'Lives') throw new Error(`connection lost: ${what}`);
      crash();
      return never();
    }

    /** Whoever calls without end would never let time pass. */
    function runaway(): Promise<never> {
      if (calls === CALLS_MAX + 1) invalid.push(`${name}: programs have called ${CALLS_MAX} times and go on`);
      return never();
    }

    async function deliver(request: TransportRequest): Promise<TransportResponse> {
      if (isDead()) return never();
      const response = await transport.send(request);
      trace(
        `${name}: ${request.method} ${request.path} ${response.status}${request.path.endsWith('/status') ? ` ${statusIn(request)}` : ''}`,
      );
      if (response.status === 422 && /\/jobs\/[^/]+\/status/.test(request.path))
        refusedStatuses.push(`${name}: ${request.method} ${request.path}: ${messageIn(response.body)}`);
      // A pod may have begun to go, or changed hands, since the worker saw it: then a PATCH of it is rightly refused.
      if ((response.status === 422 && request.method !== 'PATCH') || response.status === 400) {
        invalid.push(`${name}: ${request.method} ${request.path} ${response.status}: ${messageIn(response.body)}`);
      }
      return isDead() ? never() : response;
    }

    async function die(request: TransportRequest, what: string): Promise<never> {
      const after = dice.chance(0.5);
      note(after ? 'crash after a call' : 'crash before a call', name, what);
      if (after) await transport.send(withoutSignal(request));
      crash();
      return never();
    }

    async function queue(request: TransportRequest): Promise<void> {
      if (overload === undefined || clock.now() >= overload.untilMs || !overload.strikes(name, request)) return;
      await sleep(mortal, overload.ms, request.signal);
      request.signal?.throwIfAborted();
    }

    async function waitUp(request: TransportRequest, kind: FaultKind): Promise<void> {
      const { latencyMs } = network.weather;
      if (latencyMs === 0 || dice.chance(0.5)) return;
      const isSlow = dice.chance(0.02);
      if (isSlow) note(kind, name, `${request.method} ${request.path}`);
      await sleep(mortal, isSlow ? dice.int(1000, 20_000) : dice.int(1, latencyMs), request.signal);
      request.signal?.throwIfAborted();
    }

    /** Pages are few in a small world: each may take as long as some would. */
    async function slowly(request: TransportRequest): Promise<void> {
      note('slow list', name, request.path);
      await sleep(mortal, dice.int(2000, 60_000), request.signal);
      request.signal?.throwIfAborted();
    }

    async function throughOutages(request: TransportRequest, carryOut: () => Promise<unknown>, timeoutMs: number): Promise<void> {
      const trouble = troubleOf(name);
      if (trouble === undefined) return;
      const { kind, untilMs } = trouble;
      const what = `${request.method} ${request.path}`;
      if (kind === 'one-way partition') {
        doubt(request);
        await carryOut();
        trace(`${name}: ${what}: its answer does not come back`);
      }
      await sleep(mortal, kind === 'partition' ? untilMs - clock.now() : timeoutMs, request.signal);
      request.signal?.throwIfAborted();
      throw new Error(`${kind === 'partition' ? 'connection lost' : 'timeout'}: ${what}`);
    }

    async function stream(request: TransportRequest): Promise<TransportStream> {
      if (isDead()) return never();
      await waitUp(request, 'slow request');
      await throughOutages(request, async () => undefined, WATCH_TIMEOUT_MS);
      if (isDead()) return never();
      const fault = dice.chance(network.weather.faults) ? dice.pick(WATCH_FAULTS) : undefined;
      if (fault !== undefined) note(fault, name, request.path);
      if (fault === 'watch expired') return { status: 200, headers: {}, chunks: once(EXPIRED) };
      if (fault === 'request lost') throw new Error(`connection lost: ${request.path}`);
      const cutting = new AbortController();
      if (fault === 'watch cut') mortal.schedule(() => cutting.abort(new Error('connection lost')), dice.int(10, 30_000));
      const signals = [cutting.signal, death.signal, ...(request.signal === undefined ? [] : [request.signal])];
      const first = firstAbort(signals);
      const { status, headers, chunks } = await transport.stream({ ...request, signal: first.signal });
      return { status, headers, chunks: late(chunks, request, first.release) };
    }

    /** What came while the reader had to wait comes as one chunk with the next. */
    async function* late(chunks: AsyncIterable<string>, request: TransportRequest, release: () => void): AsyncGenerator<string> {
      try {
        for await (const chunk of chunks) {
          const delayMs = lag(request);
          if (delayMs > 5000) note('watch late', name, `${request.path} by ${delayMs} ms`);
          if (delayMs > 0) await sleep(mortal, delayMs, request.signal);
          const trouble = troubleOf(name);
          if (trouble !== undefined) await sleep(mortal, trouble.untilMs - clock.now(), request.signal);
          if (isDead()) await never();
          if (request.signal?.aborted === true) throw request.signal.reason;
          yield chunk;
        }
      } catch (error) {
        if (isDead()) await never();
        throw error;
      } finally {
        release();
      }
    }

    function lag({ path }: TransportRequest): number {
      const { jobLagMs, podLagMs } = network.weather;
      const lagMs = path.includes('/pods') ? podLagMs : jobLagMs;
      if (lagMs === 0 || dice.chance(0.4)) return 0;
      return dice.chance(0.03) ? dice.int(5000, 60_000) : dice.int(1, lagMs);
    }

    return {
      send,
      stream,
      close: () => transport.close(),
      kill: () => death.abort(new Error('killed')),
      forbidWrites: (why) => (forbidden ??= why),
    };
  }

  function faultOn(request: TransportRequest): FaultKind | undefined {
    if (request.method === 'PATCH' && request.path.includes('/pods/') && dice.chance(network.weather.lostPatches)) return 'answer lost';
    if (request.method === 'DELETE' && request.path.includes('/pods/')) {
      const protection = removals.protectionOf(request, network.weather.protectedPods);
      if (protection !== undefined) return protection;
    }
    if (request.method === 'PUT' && request.path.includes('/jobs/') && dice.chance(network.weather.lostStatuses)) return 'status lost';
    return dice.chance(network.weather.faults) ? chooseFault(request) : undefined;
  }

  function chooseFault({ method, path }: TransportRequest): FaultKind {
    if (method === 'POST' && path.endsWith('/pods') && dice.chance(0.3)) return 'over quota';
    if (method === 'PUT' && dice.chance(0.3)) return 'conflict';
    return dice.pick(method === 'GET' ? READ_FAULTS : WRITE_FAULTS);
  }

  const network: Network = {
    weather: FAIR,
    faults,
    doubtfulCreations,
    doubtfulStatuses,
    calls: () => calls,
    writes: () => writes,
    invalid,
    refusedStatuses,
    removals,
    disturb(kind, forMs, strikes) {
      note(kind, 'network', `${forMs} ms`);
      troubles = [...troubles.filter(({ untilMs }) => untilMs > clock.now()), { kind, untilMs: clock.now() + forMs, strikes }];
    },
    ambush: (next) => (ambush = next),
    overload: (delay, forMs) => (overload = { ...delay, untilMs: clock.now() + forMs }),
    disturbed: () => troubles.some(({ untilMs }) => untilMs > clock.now()),
    connect,
  };
  return network;
}

/** Many more than any story needs. */
const CALLS_MAX = 50_000;
/** As the connections of the programs have them. */
const REQUEST_TIMEOUT_MS = 70_000;
const WATCH_TIMEOUT_MS = 30_000;

const READ_FAULTS = ['refused', 'throttled', 'request lost'] as const;
const WRITE_FAULTS = ['refused', 'throttled', 'request lost', 'answer lost', 'answer lost', 'done late'] as const;
const WATCH_FAULTS = ['watch cut', 'watch cut', 'watch expired', 'request lost'] as const;

/** What a process that is no more waits for. */
const never = (): Promise<never> => new Promise(() => undefined);

const withoutSignal = ({ method, path, headers, body }: TransportRequest): TransportRequest => ({
  method,
  path,
  headers,
  ...omitUndefined({ body }),
});

const isList = ({ method, path }: TransportRequest): boolean => method === 'GET' && /\/\w+\?(.*&)?limit=/.test(path);

const json = { 'content-type': 'application/json' };
const refusal = (code: number, reason: string, message: string, headers: Record<string, string> = {}): TransportResponse => ({
  status: code,
  headers: { ...json, ...headers },
  body: JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message }),
});

function refusalOf(fault: FaultKind, dice: Dice): TransportResponse {
  if (fault === 'deletion refused') return dice.pick(DELETION_REFUSALS);
  if (fault === 'throttled') return refusal(429, 'TooManyRequests', 'too many requests', { 'retry-after': '1' });
  if (fault === 'conflict') return refusal(409, 'Conflict', 'the object has been modified');
  if (fault === 'over quota') return refusal(403, 'Forbidden', 'exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2');
  return refusal(500, 'InternalError', 'the server is not well');
}

const DELETION_REFUSALS = [
  refusal(500, 'InternalError', 'the server is not well'),
  refusal(429, 'TooManyRequests', 'the pod may not be deleted now'),
  refusal(403, 'Forbidden', 'admission webhook denied the request'),
] as const;

const EXPIRED = `${JSON.stringify({
  type: 'ERROR',
  object: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 410, reason: 'Expired', message: 'too old resource version' },
})}\n`;

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}

/** The Job that a request would change, or give a pod, by UID. */
function jobOf({ method, path, body = '{}' }: TransportRequest): string | undefined {
  if (method === 'POST' && path.endsWith('/pods')) return ownerIn(body);
  return method === 'PUT' && path.includes('/jobs/') ? (JSON.parse(body) as { metadata: { uid: string } }).metadata.uid : undefined;
}

/** A Job that is not there, or is another one of that name. */
const isGone = ({ method, path }: TransportRequest, { status, body }: TransportResponse): boolean =>
  method === 'PUT' && path.includes('/jobs/') && (status === 404 || (status === 409 && body.includes('UID in precondition')));

type OwnedBody = { readonly metadata?: { readonly ownerReferences?: readonly { readonly uid: string }[] } };
const ownerIn = (body: string): string | undefined => (JSON.parse(body) as OwnedBody).metadata?.ownerReferences?.[0]?.uid;
const messageIn = (body: string): string => (JSON.parse(body) as { readonly message?: string }).message ?? body;
const statusIn = ({ body = '{}' }: TransportRequest): string => JSON.stringify((JSON.parse(body) as { readonly status?: unknown }).status);

/** The leader writes down how long a cluster has been lost, and nothing else: as a Lease is renewed, also where nothing moves. */
const countsLoss = ({ path, body }: TransportRequest): boolean =>
  /\/workerclusters\/[^/]+\/status(?:\?|$)/.test(path) && Object.keys(JSON.parse(body ?? '{}').status ?? {}).join() === 'lostCounted';
