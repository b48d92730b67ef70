import type { AccessAttributes, KubeUser } from '../../shared/kube/access-reviews.ts';
import type { RightsReader } from './rights-reader.ts';
import type { ClusterAction, JobAction } from './views.ts';

const VERBS = { Cancel: 'delete', Hold: 'patch', Release: 'patch' } as const satisfies Record<JobAction, string>;
const ON_JOBS: readonly JobAction[] = ['Hold', 'Release', 'Cancel'];
const ON_CLUSTERS: readonly ClusterAction[] = ['Cordon', 'Uncordon', 'Drain'];

/** What the API server is asked about who wants this of the Jobs of a namespace, or of one of them. */
export const toActOnJobs = (action: JobAction, namespace: string, name?: string): AccessAttributes => ({
  resourceAttributes: { namespace, verb: VERBS[action], group: 'batch', resource: 'jobs', ...(name === undefined ? {} : { name }) },
});

/** The same for a worker cluster, whatever is done with it. */
export const toActOnCluster = (name: string): AccessAttributes => ({
  resourceAttributes: { namespace: '', verb: 'patch', group: 'switchyard.dev', resource: 'workerclusters', name },
});

type Reader = Pick<RightsReader, 'refusal'>;

/** What somebody may do with a Job, as far as is known before he does it. */
export async function actionsOnJob(rights: Reader, user: KubeUser, namespace: string, name: string): Promise<readonly JobAction[]> {
  const refusals = await Promise.all(ON_JOBS.map((action) => rights.refusal(user, toActOnJobs(action, namespace, name))));
  return ON_JOBS.filter((_, place) => refusals[place] === undefined);
}

/** What somebody may do with a worker cluster, likewise. */
export const actionsOnCluster = async (rights: Reader, user: KubeUser, name: string): Promise<readonly ClusterAction[]> =>
  (await rights.refusal(user, toActOnCluster(name))) === undefined ? ON_CLUSTERS : [];
