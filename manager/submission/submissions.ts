import type { Job } from '../../shared/api/kubernetes.ts';
import { SHARED_TENANT } from '../../shared/api/names.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Informer } from '../../shared/kube/informer.ts';
import type { ActingAs } from '../../shared/kube/kube-client.ts';
import { createRateLimiter } from '../../shared/kube/rate-limiter.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { allOrNone } from '../../shared/runtime/tasks.ts';
import type { JobRules } from '../api/job-rules.ts';
import type { RecordKeys } from '../api/record-seal.ts';
import type { SubmissionQueueObject } from '../api/submission-queue.ts';
import type { ApiRate } from '../../shared/kube/rate-limiter.ts';
import type { LedgerMetrics } from './ledger-metrics.ts';
import type { SubmissionMetrics } from './submission-metrics.ts';
import { askImpersonation } from './ask-impersonation.ts';
import { runConsumer } from './consumer.ts';
import type { SubmissionEndpointsDeps } from './submission-endpoints.ts';
import { createTenantGate, type TenantGate } from './tenant-gate.ts';
import { gatedQueue } from './gated-queue.ts';
import { createIntake, type Intake } from './intake.ts';
import { ended } from './ledger.ts';
import { createSubmissionLedger, type SubmissionLedger } from './ledger-store.ts';
import { createNotedJobs, type NotedJobs } from './noted-jobs.ts';
import { createOutcomeReporter, type EndedAttempt } from './outcome-reporter.ts';
import { createProgressReporter } from './progress-reporter.ts';
import { createQueueReporter } from './queue-reporter.ts';
import type { Outcome, SubmissionQueue } from './submission-queue.ts';
import { createLogTailReporter, type LogTailReporter } from './log-tail-reporter.ts';
import { createTenantClients } from './tenant-clients.ts';
import type { RedisTrouble } from './redis-health.ts';
import { refusedSubmission } from './refused-submission.ts';
import { createSharedQueueRecord } from './shared-queue-record.ts';
import type { Tenant, TenantRules } from './tenant.ts';
import { watchUnadmittableJobs } from './unadmittable-jobs.ts';
import { countUnendedJobs } from './unended-jobs.ts';
import { createWithdrawnJobs } from './withdrawn-jobs.ts';
import { createKindsClient } from '../work-kind/kinds-client.ts';
import type { SingleKind, WorkKind } from '../work-kind/work-kind.ts';

export type SubmissionSource = {
  /** Opens the queue of a tenant. The manager closes it. */
  readonly connect: (tenant: Tenant) => SubmissionQueue;
  /**
   * A client to the manager cluster, with the budget of submissions, that acts as somebody else or as the manager; absent: no submission is
   * created as anybody else.
   */
  readonly client?: (actAs: ActingAs | undefined) => KubeClient;
  /** Opens the queue of a tenant for those who submit over HTTP; absent: nobody does. */
  readonly openDoor?: SubmissionEndpointsDeps['open'];
  /** The queue that flags describe; undefined: those of SubmissionQueues alone. */
  readonly shared: Tenant | undefined;
  /** How many Jobs are created of submissions in a second; absent: as many as there are. */
  readonly rate?: ApiRate;
  /** Submissions that are turned into Jobs at once; absent: the default of the flag. */
  readonly turnsMax?: number;
  /** Whether SubmissionQueues may have Jobs created with the rights of the manager; absent: they may not. */
  readonly managerIdentity?: boolean;
  /** Prefixes of queues then need a hash tag; absent: it is none. */
  readonly isRedisCluster?: boolean;
};

export type SubmissionsDeps = {
  readonly kind: WorkKind<Job>;
  /** Undefined: none are taken. */
  readonly source: SubmissionSource | undefined;
  /** The manager cluster. */
  readonly home: KubeClient;
  /** Has a client write nothing while this manager does not lead. */
  readonly fenced: (client: KubeClient) => KubeClient;
  readonly jobs: Informer<Job>;
  readonly objects: Informer<SubmissionQueueObject>;
  readonly ledgerNamespace: string;
  /** Where Jobs may take ConfigMaps along. */
  readonly carryNamespaces: readonly string[];
  readonly keys: RecordKeys;
  readonly rules: JobRules;
  readonly tenantRules: TenantRules;
  /** The UID of the namespace that has this name now; undefined: there is none. */
  readonly namespaceUid: (namespace: string) => string | undefined;
  /** What was wrong with Redis when somebody last looked; absent or undefined: nobody has looked. */
  readonly redisTroubles?: (() => readonly RedisTrouble[] | undefined) | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: { readonly submission: SubmissionMetrics; readonly ledger: LedgerMetrics };
};

/** All that has to do with submissions: from the queues of tenants to the end of their Jobs. */
export interface Submissions extends Pick<NotedJobs, 'isNoted'> {
  /** Hears of copies that are about to go; absent: nobody listens. */
  readonly endings?: LogTailReporter;
  /** For the leader. */
  run(signal: AbortSignal): Promise<void>;
}

/** The same, and its clients create and delete objects of all kinds. */
export const submissionsOfKinds = ({ client, ...source }: SubmissionSource, kinds: readonly SingleKind[]): SubmissionSource => ({
  ...source,
  ...(client && { client: (actAs) => createKindsClient(client(actAs), kinds) }),
});

const DEFAULT_TURNS_MAX = 50;

/** Call before the informers run. */
export function createSubmissions(deps: SubmissionsDeps): Submissions {
  const { kind, source, jobs, home, clock, log, metrics } = deps;
  const notedJobs = (ledger: SubmissionLedger | undefined): NotedJobs =>
    createNotedJobs({
      kind,
      jobs,
      client: home,
      ledger,
      keys: deps.keys,
      clock,
      log: log.with({ part: 'intake' }),
      metrics: metrics.submission,
    });
  // Jobs of submissions may be there from when some were taken.
  return source === undefined ? notedJobs(undefined) : fromQueues(deps, source, notedJobs);
}

function fromQueues(deps: SubmissionsDeps, source: SubmissionSource, notedJobs: (ledger: SubmissionLedger) => NotedJobs): Submissions {
  const { kind, home, fenced, jobs, objects, ledgerNamespace, carryNamespaces, keys, rules, tenantRules, redisTroubles, namespaceUid } =
    deps;
  const { clock, log, metrics } = deps;
  const common = { keys, clock, log, metrics: metrics.submission };
  const intakeLog = log.with({ part: 'intake' });
  const clientFor = createTenantClients({
    manager: home,
    ...omitUndefined({ connect: source.client }),
    fenced,
    onImpersonation: (tenant, problem) => queueReporter.impersonation(tenant, problem),
  });
  const unended = countUnendedJobs(keys, () => gate.ended());
  jobs.addHandler(unended.handler);
  const gate = createGate(deps, source, unended.of);
  const ledger = createLedger(deps);
  const noted = notedJobs(ledger);
  const intake = createIntake({
    ...source,
    objects,
    consume: (tenant, queue, each) => {
      const gated = gatedQueue({
        gate,
        tenant,
        queue,
        clock,
        onResult(result, submission, refusal) {
          queueReporter.counted(tenant, result);
          if (refusal !== undefined && tenant.id === SHARED_TENANT)
            sharedQueue.refused(refusedSubmission(tenant, submission, refusal, namespaceUid, clock.now()));
        },
      });
      const client = clientFor(tenant);
      return runConsumer({ kind, rules, client, home, jobs, carryNamespaces, ledger, withdrawnJobs, ...common }, tenant, gated, each);
    },
    tenantRules,
    clock,
    log: intakeLog,
  });
  /** The first outcome stands. */
  const onEnded = ({ tenant, key, attempt }: EndedAttempt, uid: string, outcome: Outcome): void =>
    ledger.of(tenant).mark(key, ended({ uid, attempt }, outcome, clock.now()));
  const { queues, tenants } = intake;
  const withdrawnJobs = createWithdrawnJobs({ kind, jobs, ledger, tenants, clientFor, ...common, log: intakeLog });
  const unadmittableJobs = watchUnadmittableJobs({ kind, queues, tenants, jobs, withdrawnJobs, onEnded, ...common, log: intakeLog });
  const sharedQueue = createSharedQueueRecord({ client: home, namespace: ledgerNamespace, clock });
  const queueReporter = createQueueReporter({
    objects,
    client: home,
    queues,
    tenants,
    problems: intake.problems,
    askImpersonation: async (tenant, signal) => (source.client === undefined ? undefined : askImpersonation(tenant, source.client, signal)),
    withdrawalProblem: withdrawnJobs.problem,
    unended: unended.of,
    redisTroubles: redisTroubles ?? (() => undefined),
    sharedQueue,
    clock,
    log: intakeLog,
    metrics: metrics.submission,
  });
  const reporter = createOutcomeReporter({ kind, queues, jobs, client: home, onEnded, ...common });
  const progress = createProgressReporter({ kind, queues, jobs, ...common });
  return {
    isNoted: noted.isNoted,
    endings: createLogTailReporter({ queues, jobs, keys, clock, log: intakeLog }),
    run: (signal) => runAll({ ledger, noted, intake }, [queueReporter, withdrawnJobs, unadmittableJobs, reporter, progress], signal),
  };
}

const createGate = ({ clock, metrics }: SubmissionsDeps, source: SubmissionSource, unended: (tenant: string) => number): TenantGate =>
  createTenantGate({
    rate: createRateLimiter({ ...(source.rate ?? { qps: 0, burst: 1 }), clock }),
    turnsMax: source.turnsMax ?? DEFAULT_TURNS_MAX,
    unended,
    onTurn: ({ label }, waitedMs) => metrics.submission.turnWait.observe({ queue: label }, waitedMs / 1_000),
    clock,
  });

const createLedger = ({ home, ledgerNamespace, jobs, clock, log, metrics }: SubmissionsDeps): SubmissionLedger =>
  createSubmissionLedger({
    client: home,
    namespace: ledgerNamespace,
    runs: ({ job }) => !jobs.hasSynced() || jobs.get(job) !== undefined,
    clock,
    log: log.with({ part: 'ledger' }),
    metrics: metrics.ledger,
  });

type Running = { run(signal: AbortSignal): Promise<void> };

function runAll(
  { ledger, noted, intake }: { readonly ledger: SubmissionLedger; readonly noted: NotedJobs; readonly intake: Intake },
  others: readonly Running[],
  signal: AbortSignal,
): Promise<void> {
  return allOrNone(signal, [
    (each) => ledger.run(each),
    (each) => noted.run(each),
    async (each) => {
      await ledger.loaded(each);
      await intake.run(each);
    },
    ...others.map((part) => async (each: AbortSignal) => {
      await intake.ready(each);
      await part.run(each);
    }),
  ]);
}
