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
  const { objects, client, queues, tenants, problems, askImpersonation, withdrawalProblem, unended, redisTroubles, sharedQueue } = deps;
  const { clock, log, metrics } = deps;
  const lasting = createLastingTroubles();
  const results = new Map<string, { accepted: number; refused: number }>();
  const impersonations = new Map<string, Impersonation>();
  /** Whose series there are. */
  const told = new Map<string, { readonly namespace: string; readonly submission_queue: string }>();

  /** Undefined where Redis does not say. */
  async function backlogOf(queue: SubmissionQueue | undefined): Promise<Backlog | undefined> {
    if (queue?.backlog === undefined) return undefined;
    let backlog: Backlog | undefined;
    const asked = queue.backlog().then(
      (found) => (backlog = found),
      (error: unknown) => log.debug('the backlog of a queue could not be read', { error }),
    );
    return (await endsWithin(clock, ANSWER_MS, asked)) ? backlog : undefined;
  }

  function measure(queue: string, { namespace, name }: Named, found: Backlog | undefined, parked: number): void {
    const labels = { namespace, submission_queue: name };
    told.set(queue, labels);
    metrics.parked.set({ queue }, parked);
    for (const result of ['accepted', 'refused', 'failed']) metrics.queueSubmissions.inc({ queue, result }, 0);
    if (found === undefined) return;
    metrics.backlog.set({ queue }, found.waiting);
    metrics.oldest.set(labels, found.oldestMs === undefined ? 0 : Math.max(0, clock.now() - found.oldestMs) / 1000);
    metrics.kept.set(labels, found.failed);
  }

  /** No object tells of the queue that flags describe. */
  async function reportShared(troubles: readonly RedisTrouble[] | undefined): Promise<void> {
    const [queue, tenant] = [queues().get(SHARED_TENANT), tenants().get(SHARED_TENANT)];
    if (queue === undefined || tenant === undefined) return;
    const [found, parked] = [await backlogOf(queue), unended(SHARED_TENANT)];
    measure(SHARED_TENANT, { namespace: '', name: SHARED_TENANT }, found, parked);
    const { accepted, refused } = results.get(SHARED_TENANT) ?? NOTHING;
    const told = { ...tenant.redis, parked, accepted, refused, ...omitUndefined({ backlog: found?.waiting, oldestMs: found?.oldestMs }) };
    await sharedQueue.write(told, troubles);
  }

  /** Of a tenant who has submitted nothing yet nobody else knows; and who was refused may be let by now, though nothing is submitted. */
  async function impersonationProblemOf(tenant: Tenant | undefined, signal: AbortSignal): Promise<string | undefined> {
    if (tenant?.as === undefined) return undefined;
    const known = impersonations.get(tenant.id);
    if (known?.account === tenant.as.name && known.problem === undefined) return undefined;
    const problem = await askImpersonation(tenant, signal);
    impersonations.set(tenant.id, { account: tenant.as.name, problem });
    return problem;
  }

  async function report(
    object: ReturnType<QueueReporterDeps['objects']['list']>[number],
    troubles: readonly RedisTrouble[] | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { uid } = object.metadata;
    const [label, problem] = [labelOf(object), problems().get(uid)];
    const found = problem === undefined ? await backlogOf(queues().get(uid)) : undefined;
    const backlog = found?.waiting;
    const { accepted, refused } = results.get(uid) ?? NOTHING;
    const parked = unended(uid);
    measure(label, object.metadata, found, parked);
    const tenant = tenants().get(uid);
    const impersonationProblem = problem === undefined ? await impersonationProblemOf(tenant, signal) : undefined;
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

  function forgetGone(ids: ReadonlySet<string>, labels: ReadonlySet<string>): void {
    for (const [queue, of] of told) {
      if (labels.has(queue) || queue === SHARED_TENANT) continue;
      told.delete(queue);
      for (const gauge of [metrics.backlog, metrics.parked]) gauge.remove({ queue });
      for (const gauge of [metrics.oldest, metrics.kept]) gauge.remove(of);
    }
    for (const each of [results, impersonations]) for (const id of each.keys()) if (!ids.has(id) && id !== SHARED_TENANT) each.delete(id);
  }

  return {
    counted({ id, label }, result) {
      metrics.queueSubmissions.inc({ queue: label, result });
      const counts = results.get(id) ?? { ...NOTHING };
      if (result !== 'failed') counts[result]++;
      results.set(id, counts);
    },
    impersonation({ id, as }, problem) {
      if (as !== undefined) impersonations.set(id, { account: as.name, problem });
    },
    async run(signal) {
      metrics.backlog.reset();
      metrics.parked.reset();
      while (!signal.aborted) {
        const all = objects.list();
        forgetGone(new Set(all.map(({ metadata }) => metadata.uid)), new Set(all.map(labelOf)));
        const troubles = lasting.seen(redisTroubles(), clock.monotonic());
        await Promise.all([
          reportShared(troubles).catch((error: unknown) => {
            if (!signal.aborted) log.warn('the shared queue of submissions could not be described', { error });
          }),
          ...all.map((object) =>
            report(object, troubles, signal).catch((error: unknown) => {
              if (!signal.aborted && !isNotFound(error)) log.warn('the status of a SubmissionQueue could not be written', { error });
            }),
          ),
        ]);
        await sleep(clock, INTERVAL_MS, signal);
      }
    },
  };
}
