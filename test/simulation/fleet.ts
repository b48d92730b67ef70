/** The workers of a simulated cluster: processes that run the real worker, are killed, come back, and may contend for leadership. */
import { Registry } from 'prom-client';
import { isConflict, isNotFound } from '../../shared/kube/api-error.ts';
import { ApiError } from '../../shared/kube/api-error.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { silentLogger, type LogFields, type Logger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { createElectedWorker } from '../../worker/elected-worker.ts';
import { createWorker } from '../../worker/worker.ts';
import { BUILT_IN_SETTINGS } from '../support/embedded-cluster.ts';
import type { Dice } from './dice.ts';
import { createMortalClock } from './mortal-clock.ts';
import type { Line, Network } from './network.ts';
import { describeError, hasCause, isBlunder, isEndOfLeadership } from './program-errors.ts';

export type FleetDeps = {
  readonly network: Network;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly trace: (line: string) => void;
  /** One worker without election, or several that elect a leader. */
  readonly workers: number;
};

export interface Fleet {
  /** What a worker should never have done, in words. */
  readonly defects: string[];
  readonly incarnations: () => number;
  /** Cuts one of the workers off for a while. */
  cutOff(forMs: number): void;
  /** Kills one of the workers. */
  kill(): void;
  /** Asks all to stop as SIGTERM does. */
  stop(): void;
}

type Incarnation = { readonly name: string; readonly line: Line; readonly stopping: AbortController; die(): void };

export function startFleet({ network, clock, dice, trace, workers }: FleetDeps): Fleet {
  const slots: (Incarnation | undefined)[] = [];
  const defects: string[] = [];
  let incarnations = 0;
  let stopped = false;

  for (let slot = 0; slot < workers; slot++) start(slot);

  function start(slot: number): void {
    if (stopped) return;
    const name = `worker-${slot}.${++incarnations}`;
    trace(`${name}: starts`);
    const mortal = createMortalClock(clock);
    const stopping = new AbortController();
    const die = (): void => {
      if (slots[slot] !== incarnation) return;
      trace(`${name}: is dead`);
      line.kill();
      mortal.kill();
      slots[slot] = undefined;
      clock.schedule(() => start(slot), dice.int(100, 15_000));
    };
    const line = network.connect(name, mortal, die);
    const heedElection = (message: string): void => {
      // One that cannot renew its Lease in time may believe that it leads, and writes nothing: `--world election` plays that.
      if (message !== 'leadership lost') return;
      line.forbidWrites('the loss of leadership');
    };
    const incarnation: Incarnation = { name, line, stopping, die };
    slots[slot] = incarnation;
    const log = watchfulLogger(name, trace, defects, heedElection, () => network.faults.size === 0);
    const newClient = (): KubeClient => createKubeClient(line, { userAgent: name, clock: mortal });
    const settings = { ...BUILT_IN_SETTINGS, controllers: ['job'] as const, concurrentJobSyncs: dice.int(1, 5) };
    const random = seededRandom(dice.int(0, 2 ** 30));
    const logs = { client: withLogs(newClient()), namespace: 'default', keepLogs: 'All' as const, tailBytes: 1024 };
    const deps = { client: newClient(), eventClient: newClient(), registry: new Registry(), clock: mortal, random, log, settings, logs };
    const election = { client: newClient(), namespace: 'default', name: 'switchyard-worker', identity: name };
    const worker = workers === 1 ? createWorker(deps) : createElectedWorker({ ...deps, election });
    const running = worker.run(stopping.signal);
    running.then(
      // A process that has ended is started anew, unless it was asked to end.
      () => !stopping.signal.aborted && die(),
      (error: unknown) => {
        if (!isEndOfLeadership(error)) defects.push(`${name}: the worker failed: ${describeError(error)}`);
        die();
      },
    );
  }

  const living = (): Incarnation[] => slots.flatMap((incarnation) => incarnation ?? []);
  return {
    defects,
    incarnations: () => incarnations,
    cutOff(forMs) {
      const one = dice.some(living());
      if (one !== undefined) network.disturb('partition', forMs, (process) => process === one.name);
    },
    kill: () => dice.some(living())?.die(),
    stop() {
      stopped = true;
      for (const { stopping } of living()) stopping.abort(new Error('the simulation is over'));
    },
  };
}

function watchfulLogger(
  name: string,
  trace: (line: string) => void,
  defects: string[],
  heed: (message: string) => void,
  isFair: () => boolean,
): Logger {
  const look = (message: string, { error }: LogFields = {}): void => {
    const text = error === undefined ? message : `${message}: ${describeError(error)}`;
    trace(`${name}: log: ${text}`);
    heed(message);
    if (hasCause(error, isBlunder) || message === 'an event handler threw') defects.push(`${name}: ${text}`);
  };
  const lookTwice = (message: string, fields: LogFields = {}): void => {
    look(message, fields);
    const text = `${name}: ${message}: ${describeError(fields.error)}`;
    if (hasCause(fields.error, tellsOfEnd)) defects.push(`${text}: that somebody has deleted something is no error`);
    else if (isFair()) defects.push(`${text}: an error in a world without faults`);
  };
  const logger: Logger = { ...silentLogger, info: look, warn: look, error: lookTwice, with: () => logger };
  return logger;
}

/** What was meant is gone, or is another one of that name. */
const tellsOfEnd = (cause: Error): boolean => isNotFound(cause) || (isConflict(cause) && cause.message.includes('UID in precondition'));

/** Pods that are imagined have written a line each, for whoever gets an answer. */
function withLogs(client: KubeClient): KubeClient {
  return {
    ...client,
    create: (...call) => client.create(...call),
    patch: (...call) => client.patch(...call),
    delete: (...call) => client.delete(...call),
    list: (...call) => client.list(...call),
    async raw(request) {
      try {
        await client.raw(request);
      } catch (error) {
        // The embedded server knows no log of them.
        if (!(error instanceof ApiError) || error.code !== 500) throw error;
      }
      return 'a line\n';
    },
  };
}
