import type { Job } from '../../shared/api/kubernetes.ts';
import { ACTS_ANNOTATION, HOLD_ANNOTATION } from '../../shared/api/names.ts';
import type { KubeUser } from '../../shared/kube/access-reviews.ts';
import { ApiError, isConflict, isNotFound } from '../../shared/kube/api-error.ts';
import type { WriteClient } from '../../shared/kube/client.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { WORKER_CLUSTERS } from '../api/worker-cluster.ts';
import { withAct } from '../api/job-acts.ts';
import type { AuditedObject } from '../audit/audit-line.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { parseQualifiedName, parseWorkKey } from '../work-kind/qualified-name.ts';
import { toActOnCluster, toActOnJob } from './allowed-actions.ts';
import type { JobIndex } from './job-index.ts';
import { hasEnded } from './job-line.ts';
import type { Refused, RightsReader } from './rights-reader.ts';
import type { ActionRequest, ActionResult, JobAction } from './views.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

/**
 * Carries out the action of a viewer whose own rights allow it. The rights are checked for each object at that moment, and each result is
 * written to log and audit log with the name of the viewer. `address`: the source address of the request.
 */
export type Act = (user: KubeUser, request: ActionRequest, address: string | undefined) => Promise<ActionResult | Refused>;

export type ActionsDeps = {
  readonly kind: WorkKind;
  /** The manager's own client: the rights of the viewer are checked before. */
  readonly client: Pick<WriteClient, 'patch' | 'delete'>;
  readonly index: Pick<JobIndex, 'get'>;
  readonly jobs: Pick<Lister<Job>, 'get'>;
  readonly rights: Pick<RightsReader, 'refusalNow'>;
  /** Absent: no audit log is kept. */
  readonly audit?: Pick<AuditLog, 'note'> | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
};

type By = { readonly user: KubeUser; readonly address: string | undefined };
type Result = ActionResult['results'][number];

const CONCURRENCY = 8;
const STATES = { Cordon: 'Cordoned', Uncordon: 'Active', Drain: 'Draining' } as const;

export function createActions({ kind, client, index, jobs, rights, audit, clock, log }: ActionsDeps): Act {
  const audited = (by: By, action: ActionRequest['action'], on: AuditedObject, result: Result): Result => {
    const { user, address } = by;
    const { name, outcome, message } = result;
    log.info('an action of the dashboard', { user: user.username, action, object: name, outcome });
    const from = { door: 'dashboard', address } as const;
    audit?.note({ user, what: action.toLowerCase(), on, from, outcome, ...omitUndefined({ reason: message }) });
    return result;
  };

  const onCluster = async (user: KubeUser, { action, cluster: name }: Extract<ActionRequest, { cluster: string }>): Promise<Result> => {
    const refused = await rights.refusalNow(user, toActOnCluster(name));
    if (refused !== undefined) return { name, outcome: 'Refused', message: refused.why };
    return tried(name, async () => {
      await client.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { spec: { state: STATES[action] } } });
    });
  };

  const onJob = async ({ username }: KubeUser, action: JobAction, name: string): Promise<Result> => {
    const [line, job] = [index.get(name), jobs.get(parseWorkKey(name))];
    if (line === undefined || job === undefined) return { name, outcome: 'Missing', message: 'there is no such Job' };
    if (hasEnded(line)) return { name, outcome: 'Missing', message: 'it has ended' };
    return tried(name, async () => {
      // The UID keeps the action from another Job that was created under the same name meanwhile.
      const annotations = {
        [ACTS_ANNOTATION]: withAct(job, { what: action, user: username }, clock.now()),
        ...(action === 'Cancel' ? {} : { [HOLD_ANNOTATION]: action === 'Hold' ? 'true' : null }),
      };
      // The annotation is written before the deletion, because history records it.
      const key = parseWorkKey(name);
      await client.patch(kind.resource, key, { type: 'merge', body: { metadata: { uid: line.uid, annotations } } });
      if (action === 'Cancel') await client.delete(kind.resource, key, { propagationPolicy: 'Background', uid: line.uid });
    });
  };

  /** The object as known before the action: a deleted one is no longer in the index. */
  const jobOf = (key: string): AuditedObject => {
    const { namespace, name } = parseWorkKey(key);
    const plain = { kind: kind.of(name).resource.kind, namespace, name: parseQualifiedName(name).name };
    return { ...plain, ...omitUndefined({ uid: index.get(key)?.uid }) };
  };

  return async (user, request, address) => {
    const { action } = request;
    const by: By = { user, address };
    if ('cluster' in request)
      return summed([audited(by, action, { kind: 'WorkerCluster', name: request.cluster }, await onCluster(user, request))]);
    const results: Result[] = [];
    // Of one kind and namespace.
    for (const names of Map.groupBy(request.jobs, (key) => key.slice(0, key.lastIndexOf('/'))).values()) {
      const [some = ''] = names;
      const onAll = await rights.refusalNow(user, toActOnJob(request.action, parseWorkKey(some), 'All'));
      const rest = [...names];
      const work = async (): Promise<void> => {
        for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
          const on = jobOf(name);
          const refused = onAll && (await rights.refusalNow(user, toActOnJob(request.action, parseWorkKey(name))));
          const result: Result =
            refused === undefined ? await onJob(user, request.action, name) : { name, outcome: 'Refused', message: refused.why };
          results.push(audited(by, action, on, result));
        }
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, work));
    }
    return summed(results);
  };
}

async function tried(name: string, act: () => Promise<void>): Promise<Result> {
  try {
    await act();
    return { name, outcome: 'Done' };
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return { name, outcome: 'Missing', message: 'it is gone, or another one has its name' };
    if (error instanceof ApiError) return { name, outcome: 'Failed', message: error.message };
    throw error;
  }
}

const summed = (results: readonly Result[]): ActionResult => ({
  done: results.filter(({ outcome }) => outcome === 'Done').length,
  results: results.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
});
