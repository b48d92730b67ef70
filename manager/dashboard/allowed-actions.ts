import type { ObjectKey } from '../../shared/api/kubernetes.ts';
import type { AccessAttributes, KubeUser } from '../../shared/kube/access-reviews.ts';
import { parseQualifiedName, resourceOfWork } from '../work-kind/qualified-name.ts';
import type { RightsReader } from './rights-reader.ts';
import type { ClusterAction, JobAction } from './views.ts';

const VERBS = { Cancel: 'delete', Hold: 'patch', Release: 'patch' } as const satisfies Record<JobAction, string>;
const ON_JOBS: readonly JobAction[] = ['Hold', 'Release', 'Cancel'];
const ON_CLUSTERS: readonly ClusterAction[] = ['Cordon', 'Uncordon', 'Drain'];

/** The right that an action on an object, or on all of its kind in its namespace, needs. */
export function toActOnJob(action: JobAction, { namespace, name: qualified }: ObjectKey, which: 'One' | 'All' = 'One'): AccessAttributes {
  const { group, plural: resource } = resourceOfWork(qualified);
  const name = which === 'All' ? {} : { name: parseQualifiedName(qualified).name };
  return { resourceAttributes: { namespace, verb: VERBS[action], group, resource, ...name } };
}

/** The right that any action on a worker cluster needs. */
export const toActOnCluster = (name: string): AccessAttributes => ({
  resourceAttributes: { namespace: '', verb: 'patch', group: 'switchyard.dev', resource: 'workerclusters', name },
});

type Reader = Pick<RightsReader, 'refusal'>;

/** The actions on an object that the viewer has the rights for, by cached reviews. */
export async function actionsOnJob(rights: Reader, user: KubeUser, key: ObjectKey): Promise<readonly JobAction[]> {
  const refusals = await Promise.all(ON_JOBS.map((action) => rights.refusal(user, toActOnJob(action, key))));
  return ON_JOBS.filter((_, place) => refusals[place] === undefined);
}

/** The actions on a worker cluster that the viewer has the rights for, by cached reviews. */
export const actionsOnCluster = async (rights: Reader, user: KubeUser, name: string): Promise<readonly ClusterAction[]> =>
  (await rights.refusal(user, toActOnCluster(name))) === undefined ? ON_CLUSTERS : [];
