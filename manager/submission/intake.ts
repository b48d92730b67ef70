import { isDeepStrictEqual } from 'node:util';
import type { Informer } from '../../shared/kube/informer.ts';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { aborted } from '../../shared/runtime/tasks.ts';
import { createWakeUp } from '../../shared/runtime/wake-up.ts';
import type { SubmissionQueueObject } from '../api/submission-queue.ts';
import type { SubmissionQueue } from './submission-queue.ts';
import { tenantsOf } from './tenants.ts';
import type { Tenant, TenantProblem, TenantRules } from './tenant.ts';

export type IntakeDeps = {
  /** The tenant of the manager's flags; undefined: there is none. */
  readonly shared: Tenant | undefined;
  readonly objects: Pick<Informer<SubmissionQueueObject>, 'addHandler' | 'list' | 'waitForSync'>;
  /** Opens the queue of a tenant; whatever is wrong with it then shows when it is used. */
  readonly connect: (tenant: Tenant) => SubmissionQueue;
  /** Makes Jobs of what the queue hands out, until the signal aborts. */
  readonly consume: (tenant: Tenant, queue: SubmissionQueue, signal: AbortSignal) => Promise<void>;
  readonly tenantRules: TenantRules;
  readonly clock: Clock;
  readonly log: Logger;
};

/** The queues from which submissions are taken, one for each tenant. */
export interface Intake {
  /**
   * By tenant id; none before {@link ready}. One that is just being opened again is closed for a while, and then refuses what is asked of
   * it.
   */
  queues(): ReadonlyMap<string, SubmissionQueue>;
  /** Those whose queues are served, by id. */
  tenants(): ReadonlyMap<string, Tenant>;
  /** Why the queues of others are not served, by tenant id. */
  problems(): ReadonlyMap<string, TenantProblem>;
  /** Resolves when every SubmissionQueue that there is has been looked at, and when `signal` aborts. */
  ready(signal: AbortSignal): Promise<void>;
  /** Takes submissions until `signal` aborts. Whatever happens to one queue, the others go on. */
  run(signal: AbortSignal): Promise<void>;
}

const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 60_000;

/**
 * Opens a queue when its SubmissionQueue comes, anew when it changes, and closes it when it goes. Call before the informer runs; for the
 * leader alone to run.
 */
export function createIntake(deps: IntakeDeps): Intake {
  const { shared, objects, tenantRules, clock, log } = deps;
  const changes = createWakeUp(clock);
  objects.addHandler({ added: changes.wake, updated: changes.wake, deleted: changes.wake });
  const served = new Map<string, Served>();
  const leaving = new Set<Promise<void>>();
  const open = new Map<string, SubmissionQueue>();
  let unserved: ReadonlyMap<string, TenantProblem> = new Map();
  const looked = Promise.withResolvers<void>();

  /** Begins when whoever served it before has ended. */
  function serve(tenant: Tenant, before: Promise<void>): Served {
    const stop = new AbortController();
    const ended = before.then(() => serveTenant(deps, tenant, open, stop.signal));
    return { tenant, stop: () => stop.abort(new Error('its SubmissionQueue has changed')), ended };
  }

  function review(): void {
    const { tenants, problems } = tenantsOf(shared, objects.list(), tenantRules);
    for (const { tenant, problem } of problems) {
      if (unserved.get(tenant.id)?.reason !== problem.reason)
        log.warn('no submissions are taken from a queue', { tenant: tenant.label, ...problem });
    }
    unserved = new Map(problems.map(({ tenant, problem }) => [tenant.id, problem]));
    const wanted = new Map(tenants.map((tenant) => [tenant.id, tenant]));
    for (const [id, { tenant, stop, ended }] of served) {
      const now = wanted.get(id);
      if (isDeepStrictEqual(now, tenant)) continue;
      stop();
      if (now !== undefined) served.set(id, serve(now, ended));
      else {
        served.delete(id);
        open.delete(id);
        leaving.add(ended);
        void ended.then(() => leaving.delete(ended));
      }
    }
    for (const [id, tenant] of wanted) if (!served.has(id)) served.set(id, serve(tenant, Promise.resolve()));
  }

  return {
    queues: () => open,
    tenants: () => new Map([...served].map(([id, { tenant }]) => [id, tenant])),
    problems: () => unserved,
    ready: (signal) => Promise.race([looked.promise, aborted(signal)]),
    async run(signal) {
      await objects.waitForSync(signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      const round = (): void => {
        review();
        looked.resolve();
      };
      try {
        await changes.run(round, signal);
      } finally {
        for (const { stop } of served.values()) stop();
        await Promise.all([...leaving, ...[...served.values()].map(({ ended }) => ended)]);
        served.clear();
        open.clear();
      }
    },
  };
}

type Served = { readonly tenant: Tenant; readonly stop: () => void; readonly ended: Promise<void> };

/** Never rejects: a queue that breaks is opened again after a while. */
async function serveTenant(
  { connect, consume, clock, log }: IntakeDeps,
  tenant: Tenant,
  open: Map<string, SubmissionQueue>,
  signal: AbortSignal,
): Promise<void> {
  for (let retryMs = RETRY_MIN_MS; !signal.aborted; retryMs = Math.min(RETRY_MAX_MS, 2 * retryMs)) {
    let queue: SubmissionQueue | undefined;
    try {
      queue = connect(tenant);
      open.set(tenant.id, queue);
      log.info('submissions are taken from a queue', { tenant: tenant.label, ...tenant.redis });
      await consume(tenant, queue, signal);
    } catch (error) {
      log.warn('a queue of submissions broke; it is opened again', { tenant: tenant.label, error });
    }
    if (queue !== undefined) await closed(queue, tenant, log);
    await sleep(clock, retryMs, signal);
  }
}

const closed = (queue: SubmissionQueue, tenant: Tenant, log: Logger): Promise<void> =>
  queue.close().catch((error: unknown) => log.warn('a queue of submissions could not be closed', { tenant: tenant.label, error }));
