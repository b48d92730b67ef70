import type { Registry } from 'prom-client';
import { createWorkqueueMetrics, type WorkqueueMeters } from '../../shared/kube/workqueue-metrics.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { createInvariantMetrics, type InvariantMetrics } from '../../shared/runtime/invariant-metrics.ts';
import { createSpanMetrics } from '../../shared/runtime/span-metrics.ts';
import { createAdmissionMetrics, type AdmissionMetrics } from '../admission/controllers/admission-metrics.ts';
import {
  createStateMetrics,
  DEFAULT_LOCAL_QUEUES_MAX,
  type StateLimits,
  type StateMetrics,
} from '../admission/controllers/state-metrics.ts';
import { createAuditMetrics, type AuditMetrics } from '../audit/audit-metrics.ts';
import { type CanaryMetrics, createCanaryMetrics } from '../canary/canary-metrics.ts';
import { createDispatchMetrics, type DispatchMetrics } from '../dispatch/metrics/dispatch-metrics.ts';
import { createHistoryMetrics, type HistoryMetrics } from '../history/history-metrics.ts';
import { createApiMetrics, type ApiMetrics } from '../http/api-metrics.ts';
import { createStartEstimateMetrics, type StartEstimateMetrics } from '../insight/estimate/start-estimate-metrics.ts';
import { createIdentityMetrics, type IdentityMetrics } from '../process/identity-metrics.ts';
import { HOME } from '../process/client-factory.ts';
import { createStoryMetrics, type StoryMetrics } from '../story/story-metrics.ts';
import { createLedgerMetrics, type LedgerMetrics } from '../submission/ledger-metrics.ts';
import { createRedisMetrics, type RedisMetrics } from '../submission/redis-metrics.ts';
import { createSubmissionMetrics, type SubmissionMetrics } from '../submission/submission-metrics.ts';
import { createWebhookMetrics, type WebhookMetrics } from '../webhook/webhook-metrics.ts';

/** Every metric of the manager, registered once. Names follow Kueue's, with our prefix. */
export type ManagerMetrics = {
  readonly state: StateMetrics;
  readonly workqueues: WorkqueueMeters;
  readonly admission: AdmissionMetrics;
  readonly startEstimates: StartEstimateMetrics;
  readonly dispatch: DispatchMetrics;
  readonly submission: SubmissionMetrics;
  readonly ledger: LedgerMetrics;
  readonly identity: IdentityMetrics;
  readonly story: StoryMetrics;
  readonly redis: RedisMetrics;
  readonly history: HistoryMetrics;
  readonly api: ApiMetrics;
  readonly webhook: WebhookMetrics;
  readonly audit: AuditMetrics;
  readonly invariants: InvariantMetrics;
  readonly canary: CanaryMetrics;
  readonly spans: ReturnType<typeof createSpanMetrics>;
};

/** Registers the manager's metrics. Call once for a registry: a second time throws. */
export function createManagerMetrics(
  registry: Registry,
  clock: Pick<Clock, 'now'> = Date,
  limits: StateLimits = { localQueuesMax: DEFAULT_LOCAL_QUEUES_MAX },
): ManagerMetrics {
  const workqueues = createWorkqueueMetrics(registry, clock, HOME);
  return {
    state: createStateMetrics(registry, () => clock.now(), limits),
    workqueues,
    admission: { ...createAdmissionMetrics([registry]), ...limits, workqueues },
    startEstimates: createStartEstimateMetrics([registry]),
    dispatch: { ...createDispatchMetrics([registry]), workqueues },
    submission: { ...createSubmissionMetrics([registry]), workqueues },
    ledger: createLedgerMetrics([registry]),
    identity: createIdentityMetrics([registry]),
    story: createStoryMetrics([registry]),
    redis: createRedisMetrics(registry),
    history: createHistoryMetrics([registry]),
    api: createApiMetrics([registry]),
    webhook: createWebhookMetrics([registry]),
    audit: createAuditMetrics([registry]),
    invariants: createInvariantMetrics(registry),
    canary: createCanaryMetrics(registry),
    spans: createSpanMetrics(registry),
  };
}
