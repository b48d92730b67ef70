import type { ReplicaSetSpec, ReplicaSetStatus } from '../../api/kubernetes.ts';
import { matchesLabelSelector } from '../../kube/selectors.ts';
import { type FieldError, invalid, required } from '../apimachinery/field-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import type { Decoded } from './decoded.ts';
import { validateLastingTemplate } from './deployment.ts';
import { bumpGeneration, keepSpec } from './generation.ts';
import { formatSelector } from './label-selector-format.ts';
import { usableRequirements, validateLabelSelector } from './label-selector-validation.ts';
import { validateNonNegative } from './number-validation.ts';
import { applyPodSpecDefaults } from './pod-defaults.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

type DecodedReplicaSet = AnyObject & {
  spec?: Decoded<ReplicaSetSpec> | undefined;
  status?: Decoded<ReplicaSetStatus> | undefined;
};
/** The registry hands this strategy decoded ReplicaSets only. */
const asReplicaSet = (object: AnyObject): DecodedReplicaSet => object as DecodedReplicaSet;

/** apps/v1 ReplicaSet. */
export const replicaSetStrategy: ResourceStrategy = {
  applyDefaults: (object) => applyReplicaSetDefaults(asReplicaSet(object)),
  prepareForCreate: (object) => {
    object['status'] = {};
    object.metadata.generation = 1;
  },
  validateCreate: (object) => validateReplicaSet(asReplicaSet(object)),
  prepareForUpdate: bumpGeneration,
  validateUpdate: (next, previous) => [
    ...validateObjectMetaUpdate(next.metadata, previous.metadata),
    ...validateReplicaSet(asReplicaSet(next)),
    ...(semanticEqual(asReplicaSet(next).spec?.selector, asReplicaSet(previous).spec?.selector)
      ? []
      : [invalid('spec.selector', asReplicaSet(next).spec?.selector ?? null, 'field is immutable')]),
  ],
  status: {
    prepareForUpdate: keepSpec,
    validateUpdate: (next, previous) => [
      ...validateObjectMetaUpdate(next.metadata, previous.metadata),
      ...validateReplicaCounts(asReplicaSet(next).status ?? {}),
    ],
  },
  hasScale: true,
  selectableFields: (object) => ({ 'status.replicas': String(asReplicaSet(object).status?.replicas ?? 0) }),
  table: {
    columns: [
      NAME_COLUMN,
      column('Desired', 'Replicas is the number of desired pods.', { type: 'integer' }),
      column('Current', 'Replicas is the most recently observed number of non-terminating pods.', { type: 'integer' }),
      column('Ready', 'The number of non-terminating pods targeted by this ReplicaSet with a Ready Condition.', { type: 'integer' }),
      AGE_COLUMN,
      column('Containers', 'Names of each container in the template.', { wide: true }),
      column('Images', 'Images referenced by each container in the template.', { wide: true }),
      column('Selector', 'Selector is a label query over pods that should match the replica count.', { wide: true }),
    ],
    cells: (object, now) => {
      const { metadata, spec = {}, status = {} } = asReplicaSet(object);
      const containers = spec.template?.spec?.containers ?? [];
      return [
        metadata.name,
        spec.replicas ?? 0,
        status.replicas ?? 0,
        status.readyReplicas ?? 0,
        ageOf(metadata.creationTimestamp, now),
        containers.map(({ name }) => name ?? '').join(','),
        containers.map(({ image }) => image ?? '').join(','),
        formatSelector(spec.selector ?? undefined),
      ];
    },
  },
};

/** SetDefaults_ReplicaSet. */
function applyReplicaSetDefaults(replicaSet: DecodedReplicaSet): void {
  const spec = (replicaSet.spec ??= {});
  spec.replicas ??= 1;
  const template = (spec.template ??= {});
  template.metadata ??= {};
  applyPodSpecDefaults((template.spec ??= {}));
}

function validateReplicaSet({ metadata, spec = {} }: DecodedReplicaSet): FieldError[] {
  const { selector, template = {} } = spec;
  const labels = template.metadata?.labels ?? {};
  const errors = [
    ...validateObjectMeta(metadata, true, subdomainName),
    ...validateNonNegative(spec.replicas, 'spec.replicas'),
    ...validateNonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
  ];
  const isEmpty = Object.keys(selector?.matchLabels ?? {}).length + (selector?.matchExpressions ?? []).length === 0;
  if (selector === undefined) errors.push(required('spec.selector'));
  else {
    errors.push(...validateLabelSelector(selector, 'spec.selector'));
    if (isEmpty) errors.push(invalid('spec.selector', selector, 'empty selector is invalid for deployment'));
  }
  const requirements = selector === undefined ? undefined : usableRequirements(selector);
  const isMatched = selector !== undefined && (isEmpty || requirements === undefined || matchesLabelSelector(requirements, labels));
  if (!isMatched && Object.keys(labels).length > 0) {
    errors.push(invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
  }
  return [...errors, ...validateLastingTemplate(template)];
}

const COUNTS = ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'] as const;
type Count = (typeof COUNTS)[number];

/** ValidateReplicaSetStatus, which ReplicationControllers share. */
export function validateReplicaCounts(status: Pick<Decoded<ReplicaSetStatus>, Count>): FieldError[] {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  const parts = (['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const).filter((part) => (status[part] ?? 0) > replicas);
  return [
    ...COUNTS.flatMap((count) => validateNonNegative(status[count], `status.${count}`)),
    ...parts.map((part) => invalid(`status.${part}`, status[part], 'cannot be greater than status.replicas')),
    ...(availableReplicas > readyReplicas
      ? [invalid('status.availableReplicas', availableReplicas, 'cannot be greater than readyReplicas')]
      : []),
  ];
}
