import type { Static } from 'typebox';
import type { ObjectMeta } from '../../shared/api/kubernetes.ts';
import { switchyardResource } from './kind-definition.ts';
import type { CohortSpecSchema, CohortStatusSchema } from './schema/cohort.ts';

/**
 * A group of ClusterQueues that lend each other idle quota, optionally with quota of its own and a parent (Kueue's KEP-79). A cohort that
 * ClusterQueues name exists also without an object.
 */
export type Cohort = { apiVersion?: string; kind?: string; metadata: ObjectMeta; spec?: CohortSpec; status?: CohortStatus };
export type CohortSpec = Static<typeof CohortSpecSchema>;
export type CohortStatus = Static<typeof CohortStatusSchema>;

export const COHORTS = switchyardResource<Cohort>({ kind: 'Cohort', plural: 'cohorts', namespaced: false });
