/** Whoever else is at a simulated installation and means well: users with Jobs, and an operator who cordons and drains. */
import { WORKER_CLUSTERS } from '../../../manager/api/worker-cluster.ts';
import type { Job } from '../../../shared/api/kubernetes.ts';
import {
  CLUSTERS_ANNOTATION,
  FENCING_ANNOTATION,
  HOLD_ANNOTATION,
  MANAGER_CONTROLLER_NAME,
  PRIORITY_ANNOTATION,
  QUEUE_NAME_LABEL,
} from '../../../shared/api/names.ts';
import { JOBS } from '../../../shared/api/resources.ts';
import { ApiError } from '../../../shared/kube/api-error.ts';
import { isOver } from '../../support/invariants/invariant.ts';
import type { Dice } from '../dice.ts';
import { randomJob } from '../random-job.ts';
import { type Carried, referringTo } from './carried.ts';
import type { Yard } from './yard.ts';

export interface People {
  submit(): Promise<void>;
  /** Does one thing to some Job or cluster. */
  meddle(): Promise<void>;
  /** Deletes a Job that has been admitted; where there is none, makes one. */
  removeRunning(): Promise<void>;
  /** Takes back whatever keeps Jobs from running and ending, where `useless` clusters run none. Those of `drained` stay so. */
  relent(useless: ReadonlySet<string>, drained: ReadonlyMap<string, unknown>): Promise<void>;
  /** Jobs that somebody has suspended and nobody has released since, by UID: the version from which on they are. */
  readonly held: Map<string, number>;
}

const NAMES_MAX = 6;
/** Of somebody who never lets go of anything. */
export const FOREIGN_FINALIZER = 'example.com/archive';

/** People of one home cluster, with their teams. `archived`: each Job has a finalizer of others. */
export function createPeople(
  { home, teams, workers }: Pick<Yard, 'home' | 'teams' | 'workers'>,
  dice: Dice,
  trace: (line: string) => void,
  archived = false,
  priority: () => number | undefined = () => undefined,
  carried?: Carried,
): People {
  const client = home.admin;
  const held = new Map<string, number>();

  /** What the server does not let through has not happened. */
  async function attempt(what: string, call: () => Promise<unknown>): Promise<void> {
    trace(`people: ${what}`);
    try {
      await call();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      trace(`people: refused: ${error.message}`);
    }
  }
  const patch = ({ metadata: { namespace, name } }: Job, body: object): Promise<void> =>
    attempt(`patch ${namespace}/${name} ${JSON.stringify(body)}`, () => client.patch(JOBS, { namespace, name }, { type: 'merge', body }));

  async function submit(): Promise<void> {
    const namespace = dice.some(teams)?.namespace ?? '';
    const name = `job-${dice.int(0, NAMES_MAX - 1)}`;
    const job = randomJob(dice, namespace, name);
    const cluster = dice.some(workers)?.name ?? '';
    const { spec } = job;
    const said = priority();
    const pod = spec.template.spec;
    for (const container of pod?.containers ?? []) container.resources = { requests: { cpu: dice.pick(['100m', '200m', '400m']) } };
    const wish = carried?.draw();
    if (wish !== undefined && pod !== undefined) spec.template.spec = referringTo(pod, wish);
    await attempt(`create ${namespace}/${name} ${JSON.stringify(spec)}`, async () => {
      const made = await client.create(JOBS, {
        metadata: {
          namespace,
          name,
          labels: { [QUEUE_NAME_LABEL]: 'main' },
          ...(dice.chance(archived ? 1 : 0.1) ? { finalizers: [FOREIGN_FINALIZER] } : {}),
          annotations: {
            ...(dice.chance(0.15) ? { [CLUSTERS_ANNOTATION]: cluster } : {}),
            ...(dice.chance(0.1) ? { [FENCING_ANNOTATION]: 'off' } : {}),
            ...(said === undefined ? {} : { [PRIORITY_ANNOTATION]: String(said) }),
            ...wish?.annotations,
          },
        },
        // They come prepared, as the webhook would have them.
        spec: { ...spec, suspend: true, managedBy: MANAGER_CONTROLLER_NAME, parallelism: spec.parallelism ?? 1 },
      });
      if (wish !== undefined) carried?.submitted(made.metadata.uid, wish);
    });
  }

  /** Whoever suspends a Job that runs holds it, unless it says that it is not to be held. */
  async function suspend(job: Job): Promise<void> {
    const { namespace, name, uid } = job.metadata;
    const found = (await client.list(JOBS)).items.find(({ metadata }) => metadata.uid === uid);
    await attempt(`suspend ${namespace}/${name}`, async () => {
      const body = { metadata: { uid }, spec: { suspend: true } };
      const { metadata } = await client.patch(JOBS, { namespace, name }, { type: 'merge', body });
      if (found?.spec.suspend === false && found.metadata.annotations?.[HOLD_ANNOTATION] === undefined)
        held.set(uid, Number(metadata.resourceVersion));
    });
  }

  function remove({ metadata: { namespace, name } }: Job): Promise<void> {
    const propagationPolicy = dice.pick(['Background', 'Foreground', 'Orphan'] as const);
    return attempt(`delete ${namespace}/${name} ${propagationPolicy}`, () =>
      client.delete(JOBS, { namespace, name }, { propagationPolicy }),
    );
  }

  async function removeRunning(): Promise<void> {
    const job = dice.some(jobs().filter(({ spec, metadata }) => spec.suspend === false && metadata.deletionTimestamp === undefined));
    if (job === undefined) await submit();
    else await remove(job);
  }

  const jobs = (): Job[] => [...home.history.jobs.values()];

  async function meddle(): Promise<void> {
    if (dice.chance(0.3)) return operate();
    const job = dice.some(jobs());
    if (job === undefined || dice.chance(0.3)) return submit();
    const { parallelism = 1, completions, completionMode, suspend: isSuspended } = job.spec;
    switch (dice.pick(['suspend', 'hold', 'release', 'shrink', 'annotate', 'delete'] as const)) {
      case 'suspend':
        return suspend(job);
      case 'hold':
        return patch(job, { metadata: { annotations: { [HOLD_ANNOTATION]: 'true' } } });
      case 'release':
        held.delete(job.metadata.uid);
        return patch(job, { metadata: { annotations: { [HOLD_ANNOTATION]: dice.pick(['false', null]) } } });
      case 'shrink': {
        const size = dice.int(0, isSuspended === true ? 4 : parallelism);
        const isElastic = completionMode === 'Indexed' && completions === parallelism;
        return patch(job, { spec: { parallelism: size, ...(isElastic ? { completions: size } : {}) } });
      }
      case 'annotate':
        return patch(job, { metadata: { annotations: { note: String(dice.int(0, 1000)) } } });
      case 'delete': {
        if (!isOver(job) && dice.chance(0.5)) return;
        return remove(job);
      }
    }
  }

  const setState = (name: string, state: 'Active' | 'Cordoned' | 'Draining'): Promise<void> =>
    attempt(`${state} ${name}`, () => client.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { spec: { state } } }));

  async function operate(): Promise<void> {
    const cluster = dice.some(workers);
    if (cluster !== undefined) await setState(cluster.name, dice.pick(['Active', 'Active', 'Cordoned', 'Draining', 'Draining']));
  }

  async function relent(useless: ReadonlySet<string>, drained: ReadonlyMap<string, unknown>): Promise<void> {
    held.clear();
    await carried?.relent();
    for (const { metadata, spec } of (await client.list(WORKER_CLUSTERS)).items)
      if (spec.state !== 'Lost' && !drained.has(metadata.name)) await setState(metadata.name, 'Active');
    for (const job of jobs()) {
      if (!isOver(job) && useless.has(job.metadata.annotations?.[CLUSTERS_ANNOTATION] ?? ''))
        await patch(job, { metadata: { annotations: { [CLUSTERS_ANNOTATION]: null } } });
      if (!isOver(job) && job.metadata.annotations?.[HOLD_ANNOTATION] === 'true')
        await patch(job, { metadata: { annotations: { [HOLD_ANNOTATION]: null } } });
      const { parallelism, completions, completionMode } = job.spec;
      if (isOver(job) || parallelism !== 0 || completions === 0) continue;
      const isElastic = completionMode === 'Indexed' && completions === parallelism;
      // It is suspended with it: an admitted Job does not grow.
      await patch(job, {
        metadata: { annotations: { [HOLD_ANNOTATION]: 'false' } },
        spec: { suspend: true, parallelism: 1, ...(isElastic ? { completions: 1 } : {}) },
      });
    }
  }

  return { submit, meddle, removeRunning, relent, held };
}
