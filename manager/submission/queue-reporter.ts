import { MANAGER_FIELD_MANAGER, SHARED_TENANT } from '../../shared/api/names.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import type { StatusClient } from '../../shared/kube/client.ts';
import type { Informer } from '../../shared/kube/informer.ts';
import { objectKey } from '../../shared/kube/keys.ts';
import { endsWithin, sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { SUBMISSION_QUEUES, type SubmissionQueueObject } from '../api/submission-queue.ts';
import type { SubmissionMetrics } from './submission-metrics.ts';
import type { Backlog, SubmissionQueue } from './submission-queue.ts';
import { createLastingTroubles } from './lasting-troubles.ts';
import type { RedisTrouble } from './redis-health.ts';
import type { SharedQueueRecord } from './shared-queue-record.ts';
import { submissionQueueStatus } from './submission-queue-status.ts';
import type { Tenant, TenantProblem } from './tenant.ts';

export type QueueReporterDeps = {
  readonly objects: Pick<Informer<SubmissionQueueObject>, 'list'>;
  readonly client: StatusClient;
  /** By tenant id, those that are served now. */
  readonly queues: () => ReadonlyMap<string, SubmissionQueue>;
  /** By tenant id, who has these queues. */
  readonly tenants: () => ReadonlyMap<string, Tenant>;
  /** By tenant id, why others are not. */
  readonly problems: () => ReadonlyMap<string, TenantProblem>;
  /** Asks why Jobs cannot be created as the ServiceAccount of a tenant; undefined: they can. Rejects where there is no answer. */
  readonly askImpersonation: (tenant: Tenant, signal: AbortSignal) => Promise<string | undefined>;
  /** Why Jobs of a tenant's ended submissions cannot be deleted; undefined: nothing is in the way. */
  readonly withdrawalProblem: (tenant: string) => string | undefined;
  /** Jobs of a tenant that have not ended. */
  readonly unended: (tenant: string) => number;
  /** What is wrong with Redis; undefined: nobody has looked. */
  readonly redisTroubles: () => readonly RedisTrouble[] | undefined;
  /** Where the shared queue is described. */
  readonly sharedQueue: Pick<SharedQueueRecord, 'write'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: SubmissionMetrics;
};

/** Tells how each queue is doing: in the status of its SubmissionQueue, and in metrics. */
export interface QueueReporter {
  /** Something became of a submission. */
  counted(tenant: Tenant, result: 'accepted' | 'refused' | 'failed'): void;
  /** Why Jobs cannot be created as the ServiceAccount of the tenant; undefined: they can. */
  impersonation(tenant: Tenant, problem: string | undefined): void;
  run(signal: AbortSignal): Promise<void>;
}

/** Whether Jobs can be created as a ServiceAccount, when that was seen last. */
type Impersonation = { readonly account: string; readonly problem: string | undefined };
type Named = { readonly namespace: string; readonly name: string };
const labelOf = ({ metadata }: { readonly metadata: Named }): string => `${metadata.namespace}/${metadata.name}`;

/** Counts change with each submission; they are told this often at most. */
const INTERVAL_MS = 10_000;
const NOTHING = { accepted: 0, refused: 0 } as const;
const ANSWER_MS = 3_000;

export function createQueueReporter(deps: QueueReporterDeps): QueueReporter {
  return new StatusReporter(deps);
}

class StatusReporter implements QueueReporter {
  readonly #deps: QueueReporterDeps;
  readonly #lasting = createLastingTroubles();
  readonly #results = new Map<string, { accepted: number; refused: number }>();
  readonly #impersonations = new Map<string, Impersonation>();
  /** Whose series there are. */
  readonly #told = new Map<string, { readonly namespace: string; readonly submission_queue: string }>();

  constructor(deps: QueueReporterDeps) {
    this.#deps = deps;
  }

  counted({ id, label }: Tenant, result: 'accepted' | 'refused' | 'failed'): void {
    this.#deps.metrics.queueSubmissions.inc({ queue: label, result });
    const counts = this.#results.get(id) ?? { ...NOTHING };
    if (result !== 'failed') counts[result]++;
    this.#results.set(id, counts);
  }

  impersonation({ id, as }: Tenant, problem: string | undefined): void {
    if (as !== undefined) this.#impersonations.set(id, { account: as.name, problem });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { objects, redisTroubles, clock, log, metrics } = this.#deps;
    metrics.backlog.reset();
    metrics.parked.reset();
    while (!signal.aborted) {
      const all = objects.list();
      this.#forgetGone(new Set(all.map(({ metadata }) => metadata.uid)), new Set(all.map(labelOf)));
      const troubles = this.#lasting.seen(redisTroubles(), clock.monotonic());
      await Promise.all([
        this.#reportShared(troubles).catch((error: unknown) => {
          if (!signal.aborted) log.warn('the shared queue of submissions could not be described', { error });
        }),
        ...all.map((object) =>
          this.#report(object, troubles, signal).catch((error: unknown) => {
            if (!signal.aborted && !isNotFound(error)) log.warn('the status of a SubmissionQueue could not be written', { error });
          }),
        ),
      ]);
      await sleep(clock, INTERVAL_MS, signal);
    }
  }

  #forgetGone(ids: ReadonlySet<string>, labels: ReadonlySet<string>): void {
    const { metrics } = this.#deps;
    for (const [queue, of] of this.#told) {
      if (labels.has(queue) || queue === SHARED_TENANT) continue;
      this.#told.delete(queue);
      for (const gauge of [metrics.backlog, metrics.parked]) gauge.remove({ queue });
      for (const gauge of [metrics.oldest, metrics.kept]) gauge.remove(of);
    }
    for (const each of [this.#results, this.#impersonations])
      for (const id of each.keys()) if (!ids.has(id) && id !== SHARED_TENANT) each.delete(id);
  }

  /** No object tells of the queue that flags describe. */
  async #reportShared(troubles: readonly RedisTrouble[] | undefined): Promise<void> {
    const { queues, tenants, unended, sharedQueue } = this.#deps;
    const [queue, tenant] = [queues().get(SHARED_TENANT), tenants().get(SHARED_TENANT)];
    if (queue === undefined || tenant === undefined) return;
    const [found, parked] = [await this.#backlogOf(queue), unended(SHARED_TENANT)];
    this.#measure(SHARED_TENANT, { namespace: '', name: SHARED_TENANT }, found, parked);
    const { accepted, refused } = this.#results.get(SHARED_TENANT) ?? NOTHING;
    const told = { ...tenant.redis, parked, accepted, refused, ...omitUndefined({ backlog: found?.waiting, oldestMs: found?.oldestMs }) };
    await sharedQueue.write(told, troubles);
  }

  async #report(
    object: ReturnType<QueueReporterDeps['objects']['list']>[number],
    troubles: readonly RedisTrouble[] | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, queues, tenants, problems, withdrawalProblem, unended, clock } = this.#deps;
    const { uid } = object.metadata;
    const [label, problem] = [labelOf(object), problems().get(uid)];
    const found = problem === undefined ? await this.#backlogOf(queues().get(uid)) : undefined;
    const backlog = found?.waiting;
    const { accepted, refused } = this.#results.get(uid) ?? NOTHING;
    const parked = unended(uid);
    this.#measure(label, object.metadata, found, parked);
    const tenant = tenants().get(uid);
    const impersonationProblem = problem === undefined ? await this.#impersonationProblemOf(tenant, signal) : undefined;
    const facts = {
      problem,
      impersonationProblem,
      withdrawalProblem: withdrawalProblem(uid),
      troubles,
      prefix: tenant?.redis.prefix,
      backlog,
      parked,
      accepted,
      refused,
    };
    const status = submissionQueueStatus(object, facts, clock.now());
    if (status === undefined) return;
    const patch = { type: 'merge', body: { status } } as const;
    await client.patchStatus(SUBMISSION_QUEUES, objectKey(object), patch, { fieldManager: MANAGER_FIELD_MANAGER });
  }

  /** Undefined where Redis does not say. */
  async #backlogOf(queue: SubmissionQueue | undefined): Promise<Backlog | undefined> {
    const { clock, log } = this.#deps;
    if (queue?.backlog === undefined) return undefined;
    let backlog: Backlog | undefined;
    const asked = queue.backlog().then(
      (found) => (backlog = found),
      (error: unknown) => log.debug('the backlog of a queue could not be read', { error }),
    );
    return (await endsWithin(clock, ANSWER_MS, asked)) ? backlog : undefined;
  }

  #measure(queue: string, { namespace, name }: Named, found: Backlog | undefined, parked: number): void {
    const { clock, metrics } = this.#deps;
    const labels = { namespace, submission_queue: name };
    this.#told.set(queue, labels);
    metrics.parked.set({ queue }, parked);
    for (const result of ['accepted', 'refused', 'failed']) metrics.queueSubmissions.inc({ queue, result }, 0);
    if (found === undefined) return;
    metrics.backlog.set({ queue }, found.waiting);
    metrics.oldest.set(labels, found.oldestMs === undefined ? 0 : Math.max(0, clock.now() - found.oldestMs) / 1000);
    metrics.kept.set(labels, found.failed);
  }

  /** Of a tenant who has submitted nothing yet nobody else knows; and who was refused may be let by now, though nothing is submitted. */
  async #impersonationProblemOf(tenant: Tenant | undefined, signal: AbortSignal): Promise<string | undefined> {
    if (tenant?.as === undefined) return undefined;
    const known = this.#impersonations.get(tenant.id);
    if (known?.account === tenant.as.name && known.problem === undefined) return undefined;
    const problem = await this.#deps.askImpersonation(tenant, signal);
    this.#impersonations.set(tenant.id, { account: tenant.as.name, problem });
    return problem;
  }
}
