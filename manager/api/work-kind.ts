import type { Static } from 'typebox';
import type { ObjectMeta } from '../../shared/api/kubernetes.ts';
import { switchyardResource } from './kind-definition.ts';
import type { DescribedPodSetSchema, WorkKindSpecSchema } from './schema/work-kind.ts';
import type { Condition } from './schema-parts.ts';

/** A kind of work, described: which of its fields say what, and which expressions tell the rest. */
export type WorkKindObject = {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec: WorkKindSpec;
  status?: { conditions?: Condition[] };
};
export type WorkKindSpec = Static<typeof WorkKindSpecSchema>;
export type DescribedPodSet = Static<typeof DescribedPodSetSchema>;

export const WORK_KINDS = switchyardResource<WorkKindObject>({ kind: 'WorkKind', plural: 'workkinds', namespaced: false });
