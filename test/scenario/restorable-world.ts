/** Whole worlds whose clusters can be put back to what they were earlier, under programs that are started again when they end. */
import { isNotFound } from '../../shared/kube/api-error.ts';
import type { Transport } from '../../shared/kube/transport.ts';
import { createRestorablePlane, type RestorablePlane } from '../support/restorable-plane.ts';
import { createWholeWorld, type ProgramOptions, type RunningProgram, type WholeWorld } from './whole-world.ts';

export type RestorableWorld = Omit<WholeWorld, 'plane'> & {
  plane(cluster: string): RestorablePlane;
  /** A program that is started again when it ends, as the kubelet does; what it ended with is kept. */
  supervise(start: () => RunningProgram): Supervised;
  /** Which clusters managers that were started as {@link MANAGER} do not reach with what they begin from now on. */
  readonly dark: Set<string>;
  /** Lets time pass, second by second. The most pods that ran at once for one Job, on all clusters together. */
  pass(seconds: number): Promise<number>;
  /** `Complete`, `Failed`, or `gone`; undefined while it has not ended. */
  endOf(name: string): Promise<string | undefined>;
  /** The Jobs there, by name. */
  namesOn(cluster: string): Promise<string[]>;
};

export type Supervised = {
  readonly ended: readonly Error[];
  /** Kills it, and starts it again. */
  restart(): void;
};

export const MANAGER: ProgramOptions = { user: () => ({ name: 'manager', groups: ['system:masters'] }) };

/** Without kubelets pods stay as they are stored. */
export async function createRestorableWorld(
  clusters: readonly string[],
  { kubelets = true }: { readonly kubelets?: boolean } = {},
): Promise<RestorableWorld> {
  const dark = new Set<string>();
  const planes = new Map<string, RestorablePlane>();
  const programs: { start: () => RunningProgram; running: RunningProgram; ended: Error[] }[] = [];
  const world = await createWholeWorld({
    clusters,
    async createPlane(cluster, options, stored) {
      const controllers = options.controllers?.filter((name) => kubelets || name !== 'node-agent') ?? [];
      const plane = await createRestorablePlane({ ...options, controllers }, stored);
      planes.set(cluster, plane);
      return {
        close: () => plane.close(),
        transport(user) {
          const way = plane.transport(user);
          return user?.name === 'manager' ? unless(way, () => dark.has(cluster)) : way;
        },
      };
    },
  });
  return {
    ...world,
    dark,
    plane(cluster) {
      const found = planes.get(cluster);
      if (found === undefined) throw new Error(`there is no cluster ${cluster}`);
      return found;
    },
    supervise(start) {
      const program = { start, running: start(), ended: [] };
      programs.push(program);
      return {
        ended: program.ended,
        restart() {
          program.running.kill();
          program.running = start();
        },
      };
    },
    async pass(seconds) {
      let most = 0;
      for (let passed = 0; passed < seconds; passed++) {
        await world.clock.advance(1_000);
        for (const program of programs) {
          const outcome = program.running.outcome();
          if (!(outcome instanceof Error)) continue;
          program.ended.push(outcome);
          program.running = program.start();
        }
        const perJob = new Map<string, number>();
        for (const cluster of clusters) {
          for (const { metadata, status } of await world.podsOn(cluster)) {
            if (status?.phase !== 'Running') continue;
            const job = metadata.labels?.['batch.kubernetes.io/job-name'] ?? '';
            perJob.set(job, (perJob.get(job) ?? 0) + 1);
          }
        }
        most = Math.max(most, ...perJob.values());
      }
      return most;
    },
    async endOf(name) {
      try {
        const { status } = await world.job(name);
        return status?.conditions?.find((each) => ['Complete', 'Failed'].includes(each.type) && each.status === 'True')?.type;
      } catch (error) {
        if (isNotFound(error)) return 'gone';
        throw error;
      }
    },
    namesOn: async (cluster) => (await world.jobsOn(cluster)).map(({ metadata }) => metadata.name).toSorted(),
  };
}

function unless(way: Transport, isDark: () => boolean): Transport {
  const check = (): void => {
    if (isDark()) throw new Error('connection lost');
  };
  return {
    async send(request) {
      check();
      return way.send(request);
    },
    async stream(request) {
      check();
      return way.stream(request);
    },
    close: () => way.close(),
  };
}
