/** The programs of a simulated installation: managers and workers, real ones, which are killed and come back. */
import { Registry } from 'prom-client';
import { FairStrategy, type FairSharingConfig } from '../../../manager/admission/fair-sharing/fair-strategy.ts';
import type { UsagePolicy } from '../../../manager/admission/fair-sharing/local-queue-usage.ts';
import { createManager } from '../../../manager/manager.ts';
import type { SingleKind } from '../../../manager/work-kind/work-kind.ts';
import { ORIGIN_LABEL } from '../../../shared/api/names.ts';
import { LEASES, NAMESPACES } from '../../../shared/api/resources.ts';
import type { ClusterAccess } from '../../../shared/kube/cluster-access.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { createKubeClient } from '../../../shared/kube/kube-client.ts';
import { BROKEN_PROMISE } from '../../../shared/runtime/invariant-watch.ts';
import type { Transport } from '../../../shared/kube/transport.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { silentLogger, type LogFields, type Logger } from '../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../shared/runtime/random.ts';
import { createWorker } from '../../../worker/worker.ts';
import { MIRRORED_JOBS_SETTINGS } from '../../support/embedded-cluster.ts';
import type { Dice } from '../dice.ts';
import { createMortalClock } from '../mortal-clock.ts';
import type { Line } from '../network.ts';
import { describeError, hasCause, isBlunder, isEndOfLeadership, isFreshStart } from '../program-errors.ts';
import { MANAGER_NAMESPACE } from './membership.ts';
import { type Cluster, type Onlooker, RECORD_KEY_SECRET, type Yard } from './yard.ts';

export interface Crew {
  /** What a program should never have done, in words. */
  readonly defects: string[];
  incarnations(): number;
  /** Names of the programs that there are, dead ones included. Their processes have names that begin with these and a dot. */
  readonly programs: readonly string[];
  /** Kills one of the programs; it comes back after a while. */
  kill(): void;
  /** Kills this one. */
  killNamed(program: string): void;
  /** The next process of this worker has this --fence-after. */
  setFence(program: string, fenceAfterMs: number): void;
  /** From now on the machine of this program is wrong by this much about the time of day. */
  setClock(program: string, errorMs: number): void;
  /** Takes a program away for good. */
  retire(program: string): void;
  /** Asks all to stop as SIGTERM does. */
  stop(): void;
}

type Incarnation = { readonly stopping: AbortController; die(): void };
/** What a program is given when it starts. `connect` makes its way to a cluster. */
type Life = {
  readonly name: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly connect: (cluster: Cluster, access?: ClusterAccess) => KubeClient;
};
type Program = {
  readonly name: string;
  /** Of a manager where there are two homes: the UID of its own. */
  readonly home?: (() => Promise<string>) | undefined;
  readonly run: (life: Life, signal: AbortSignal) => Promise<void>;
};

export function startCrew(options: {
  readonly yard: Yard;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly trace: (line: string) => void;
  /** Managers that elect one of them. */
  readonly managers: number;
  /** With fair sharing, of both kinds; absent: without. */
  readonly sharesFairly?: boolean;
  /** The namespaces of teams are among those from which Jobs may take ConfigMaps and Secrets along. */
  readonly carries?: boolean;
  /** Described kinds of the home that has them. */
  readonly kinds?: readonly SingleKind[];
  readonly onlooker?: Onlooker | undefined;
}): Crew {
  const { yard, clock, dice, trace } = options;
  const living = new Map<string, Incarnation>();
  const begun: AbortController[] = [];
  const errorsMs = new Map<string, number>();
  const retired = new Set<string>();
  const fencesMs = new Map<string, number>();
  const defects: string[] = [];
  let incarnations = 0;
  let stopped = false;

  const start = (program: Program): void => {
    if (stopped || retired.has(program.name)) return;
    const name = `${program.name}.${++incarnations}`;
    trace(`${name}: starts`);
    options.onlooker?.started(program.name);
    const mortal = createMortalClock(clock, () => errorsMs.get(program.name) ?? 0);
    const lines: Line[] = [];
    const stopping = new AbortController();
    begun.push(stopping);
    const die = (): void => {
      if (living.get(program.name) !== incarnation) return;
      trace(`${name}: is dead`);
      options.onlooker?.died(program.name);
      living.delete(program.name);
      for (const line of lines) line.kill();
      mortal.kill();
      clock.schedule(() => start(program), dice.int(100, 15_000));
    };
    const incarnation = { stopping, die };
    living.set(program.name, incarnation);
    const connect = (cluster: Cluster, access?: ClusterAccess): KubeClient => {
      const line = cluster.network.connect(name, mortal, die);
      lines.push(line);
      const screened = cluster.gate.screen(
        program.home === undefined || access === undefined ? line : asHolder(line, name, cluster, program.home, defects),
        name,
      );
      const way = access === undefined ? screened : cluster.gate.guard(screened, access);
      return createKubeClient(way, { userAgent: name, clock: mortal });
    };
    // At the end of the simulation the dead wake up to end as well, and have nothing to say.
    const tell = (line: string): void => {
      if (!stopped || living.get(program.name) === incarnation) trace(line);
    };
    const log = watchfulLogger(name, tell, defects);
    program.run({ name, clock: mortal, log, random: seededRandom(dice.int(0, 2 ** 30)), connect }, stopping.signal).then(
      // A process that has ended is started anew, unless it was asked to end.
      () => !stopping.signal.aborted && die(),
      (error: unknown) => {
        if (!isEndOfLeadership(error) && !isFreshStart(error)) defects.push(`${name}: failed: ${describeError(error)}`);
        die();
      },
    );
  };

  const managers = Array.from({ length: options.managers }, (_, position) =>
    managerProgram(`manager-${position + 1}`, yard, yard.home, options.managers > 1, options),
  );
  const programs = [
    ...managers,
    ...(yard.rival === undefined
      ? []
      : [managerProgram(RIVAL_MANAGER, yard, yard.rival, false, { sharesFairly: options.sharesFairly === true })]),
    ...yard.workers.map((cluster) => workerProgram(cluster, () => fencesMs.get(workerOf(cluster.name)) ?? FENCE_AFTER_MS)),
  ];
  for (const program of programs) start(program);

  return {
    defects,
    incarnations: () => incarnations,
    programs: programs.map(({ name }) => name),
    setClock: (program, errorMs) => errorsMs.set(program, errorMs),
    retire(program) {
      retired.add(program);
      living.get(program)?.die();
    },
    kill: () => dice.some([...living.values()])?.die(),
    killNamed: (program) => living.get(program)?.die(),
    setFence: (program, fenceAfterMs) => fencesMs.set(program, fenceAfterMs),
    stop() {
      stopped = true;
      // The dead as well: what they wait for would stay in memory as long as this process, with all of their world.
      for (const stopping of begun) stopping.abort(new Error('the simulation is over'));
    },
  };
}

export const RIVAL_MANAGER = 'rival-manager';

/** More than the fence, the longest grace period of a pod, and what the manager adds to them. */
const WORKER_LOST_TIMEOUT_MS = 150_000;
const FAIR_SHARING: FairSharingConfig = { preemptionStrategies: Object.values(FairStrategy) };
const USAGE: UsagePolicy = { halfLifeMs: 600_000, samplingIntervalMs: 60_000, resourceWeights: new Map([['pods', 0]]) };
/** Stories last for minutes. */
const INVARIANT_PATIENCE = 0.25;
const FENCE_AFTER_MS = 30_000;
/** The worker program of this cluster. */
export const workerOf = (cluster: string): string => `worker-${cluster}`;
/** Whether a process is of this program. */
export const isOf =
  (program: string) =>
  (process: string): boolean =>
    process.startsWith(`${program}.`);
export const isManager = (process: string): boolean => process.startsWith('manager');

/** One that is alone is not elected: that would be most of what happens in a quiet world. */
const managerProgram = (
  name: string,
  { rival, workers, teams }: Yard,
  home: Cluster,
  elected: boolean,
  { sharesFairly = false, carries = false, kinds = [] }: Pick<Parameters<typeof startCrew>[0], 'sharesFairly' | 'carries' | 'kinds'>,
): Program => ({
  name,
  home:
    rival === undefined ? undefined : async () => (await home.admin.get(NAMESPACES, { namespace: '', name: 'kube-system' })).metadata.uid,
  run: ({ name: identity, clock, log, random, connect }, signal) =>
    createManager({
      client: connect(home),
      connectCluster: (_, access) => connect(clusterAt(workers, access.server), access),
      recordKeySecret: RECORD_KEY_SECRET,
      ...(rival === undefined ? {} : { managerId: 'yard' }),
      ...(elected ? { leaderElection: { client: connect(home), namespace: MANAGER_NAMESPACE, name: 'switchyard-manager', identity } } : {}),
      concurrentDispatches: 4,
      invariantPatience: INVARIANT_PATIENCE,
      workerLostTimeoutMs: WORKER_LOST_TIMEOUT_MS,
      kinds,
      ...(carries ? { carryNamespaces: teams.map(({ namespace }) => namespace) } : {}),
      ...(sharesFairly ? { fairSharing: FAIR_SHARING, admissionFairSharing: USAGE } : {}),
      registry: new Registry(),
      clock,
      random,
      log,
    }).run(signal),
});

const workerProgram = (cluster: Cluster, fenceAfterMs: () => number): Program => ({
  name: workerOf(cluster.name),
  run: ({ name: identity, clock, log, random, connect }, signal) =>
    createWorker({
      client: connect(cluster),
      eventClient: connect(cluster),
      presence: {
        client: connect(cluster),
        settings: { fenceAfterMs: fenceAfterMs(), leaseNamespace: 'kube-system' },
        identity,
        version: 'v0',
      },
      registry: new Registry(),
      clock,
      random,
      log,
      settings: MIRRORED_JOBS_SETTINGS,
    }).run(signal),
});

/** Where there are two homes, the manager of one writes no Jobs to a cluster whose Lease the manager of the other holds. */
function asHolder(line: Line, name: string, cluster: Cluster, homeUid: () => Promise<string>, defects: string[]): Transport {
  return {
    send: async (request) => {
      if (request.method !== 'GET' && /^\/apis\/batch\/v1\/namespaces\/[^/]+\/jobs/.test(request.path)) {
        const leases = await cluster.admin.list(LEASES, { labelSelector: ORIGIN_LABEL });
        const holder = leases.items[0]?.spec?.holderIdentity ?? '';
        if (!holder.startsWith(await homeUid()))
          defects.push(`${name}: ${request.method} ${request.path} while ${holder || 'nobody'} holds the Lease`);
      }
      return line.send(request);
    },
    stream: (request) => line.stream(request),
    close: () => line.close(),
  };
}

function clusterAt(clusters: readonly Cluster[], server: string): Cluster {
  const cluster = clusters.find(({ url }) => url === server);
  if (cluster === undefined) throw new Error(`there is no cluster at ${server}`);
  return cluster;
}

function watchfulLogger(name: string, trace: (line: string) => void, defects: string[]): Logger {
  const look = (message: string, fields: LogFields = {}): void => {
    const { error, ...rest } = fields;
    const text = error === undefined ? `${message} ${JSON.stringify(rest)}` : `${message}: ${describeError(error)}`;
    trace(`${name}: log: ${text}`);
    if (hasCause(error, isBlunder) || message === 'an event handler threw' || message === BROKEN_PROMISE) defects.push(`${name}: ${text}`);
  };
  const logger: Logger = { ...silentLogger, info: look, warn: look, error: look, with: () => logger };
  return logger;
}
