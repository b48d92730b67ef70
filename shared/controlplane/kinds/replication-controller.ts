import type { V1ReplicationControllerSpec, V1ReplicationControllerStatus } from '@kubernetes/client-node';
import type { Wire } from '../../api/kubernetes.ts';
import { invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import type { DecodedPodTemplate, Decoded } from './decoded.ts';
import { validateLastingTemplate } from './deployment.ts';
import { bumpGeneration, keepSpec } from './generation.ts';
import { validateNonNegative } from './number-validation.ts';
import { applyPodSpecDefaults } from './pod-defaults.ts';
import { replicaSetStrategy, validateReplicaCounts } from './replica-set.ts';

type DecodedController = AnyObject & {
  spec?: Decoded<Wire<V1ReplicationControllerSpec>> | undefined;
  status?: Decoded<Wire<V1ReplicationControllerStatus>> | undefined;
};
/** The registry hands this strategy decoded ReplicationControllers only. */
const asController = (object: AnyObject): DecodedController => object as DecodedController;

/** core/v1 ReplicationController: kept and checked; no controller here makes its pods. */
export const replicationControllerStrategy: ResourceStrategy = {
  applyDefaults: (object) => applyControllerDefaults(asController(object)),
  prepareForCreate: (object) => {
    object['status'] = { replicas: 0 };
    object.metadata.generation = 1;
  },
  validateCreate: (object) => validateController(asController(object)),
  prepareForUpdate: bumpGeneration,
  validateUpdate: (next, previous) => [
    ...validateObjectMetaUpdate(next.metadata, previous.metadata),
    ...validateController(asController(next)),
  ],
  status: {
    prepareForUpdate: keepSpec,
    validateUpdate: (next, previous) => [
      ...validateObjectMetaUpdate(next.metadata, previous.metadata),
      ...validateReplicaCounts(asController(next).status ?? {}),
    ],
  },
  // Those of clients that know no propagation policy: the first version of a kind leaves pods behind.
  defaultPropagation: 'orphan',
  hasScale: true,
  selectableFields: (object) => ({ 'status.replicas': String(asController(object).status?.replicas ?? 0) }),
  table: {
    columns: replicaSetStrategy.table?.columns ?? [],
    cells: (object, now) => {
      const { selector = {} } = asController(object).spec ?? {};
      const shown = { ...object, spec: { ...asController(object).spec, selector: { matchLabels: selector } } };
      return replicaSetStrategy.table?.cells(shown, now) ?? [];
    },
  },
};

/** SetDefaults_ReplicationController: the labels of the pods select them, and are its own, where it says nothing else. */
function applyControllerDefaults({ metadata, spec = {} }: DecodedController): void {
  spec.replicas ??= 1;
  const { template } = spec;
  if (template === undefined) return;
  const labels = template.metadata?.labels ?? {};
  if (Object.keys(labels).length > 0) {
    if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
    if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
  }
  template.metadata ??= {};
  applyPodSpecDefaults((template.spec ??= {}));
}

function validateController({ metadata, spec = {} }: DecodedController): FieldError[] {
  const { selector = {}, template } = spec;
  return [
    ...validateObjectMeta(metadata, true, subdomainName),
    ...validateNonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    ...(Object.keys(selector).length === 0 ? [required('spec.selector')] : []),
    ...validateNonNegative(spec.replicas, 'spec.replicas'),
    ...(template === undefined ? [required('spec.template')] : validateTemplate(template, selector)),
  ];
}

/** ValidatePodTemplateSpecForRC. */
function validateTemplate(template: DecodedPodTemplate, selector: Readonly<Record<string, string>>): FieldError[] {
  const labels = template.metadata?.labels ?? {};
  return [
    ...(Object.entries(selector).every(([key, value]) => labels[key] === value)
      ? []
      : [invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')]),
    ...validateLastingTemplate(template, 'ReplicationController'),
  ];
}
