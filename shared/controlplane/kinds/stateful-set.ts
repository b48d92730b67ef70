import type { V1StatefulSetSpec, V1StatefulSetStatus } from '@kubernetes/client-node';
import type { Wire } from '../../api/kubernetes.ts';
import { matchesLabelSelector } from '../../kube/selectors.ts';
import { forbidden, invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import { dns1123LabelProblems } from '../../kube/name-formats.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { labelName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { validateFormat, validateOptionalChoice } from './choice-validation.ts';
import { validateClaimSpec } from './claim-template-validation.ts';
import type { Decoded, DecodedPodTemplate } from './decoded.ts';
import { validateLastingTemplate } from './deployment.ts';
import { bumpGeneration, keepSpec } from './generation.ts';
import { usableRequirements, validateLabelSelector } from './label-selector-validation.ts';
import { validateNonNegative } from './number-validation.ts';
import { applyPodSpecDefaults } from './pod-defaults.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

type DecodedSpec = Decoded<Wire<V1StatefulSetSpec>>;
type DecodedStatus = Decoded<Wire<V1StatefulSetStatus>>;
type DecodedStatefulSet = AnyObject & { spec?: DecodedSpec | undefined; status?: DecodedStatus | undefined };
/** The registry hands this strategy decoded StatefulSets only. */
const asStatefulSet = (object: AnyObject): DecodedStatefulSet => object as DecodedStatefulSet;

/** apps/v1 StatefulSet: kept and checked; no controller here makes its pods. */
export const statefulSetStrategy: ResourceStrategy = {
  applyDefaults: (object) => applyStatefulSetDefaults((asStatefulSet(object).spec ??= {})),
  prepareForCreate: (object) => {
    // Fields that the wire form never leaves out.
    object['status'] = { replicas: 0, availableReplicas: 0 };
    object.metadata.generation = 1;
    dropMaxUnavailable(object);
  },
  validateCreate: (object) => {
    const { metadata, spec = {} } = asStatefulSet(object);
    return [
      ...validateObjectMeta(metadata, true, labelName),
      ...validateSpec(spec),
      ...((spec.serviceName ?? '') === '' ? [] : validateFormat(spec.serviceName ?? '', 'spec.serviceName', dns1123LabelProblems)),
      ...(spec.volumeClaimTemplates ?? []).flatMap((claim, i) =>
        validateClaimSpec(claim.spec ?? {}, `spec.volumeClaimTemplates[${i}].spec`),
      ),
    ];
  },
  prepareForUpdate: (next, previous) => {
    dropMaxUnavailable(next);
    bumpGeneration(next, previous);
  },
  validateUpdate: (next, previous) => [
    ...validateObjectMetaUpdate(next.metadata, previous.metadata),
    ...validateSpec(asStatefulSet(next).spec ?? {}),
    ...(semanticEqual(lasting(next), lasting(previous)) ? [] : [forbidden('spec', UPDATE_FORBIDDEN)]),
  ],
  status: {
    prepareForUpdate: keepSpec,
    validateUpdate: (next, previous) => [
      ...validateStatus(asStatefulSet(next).status ?? {}, asStatefulSet(previous).status ?? {}),
      ...validateObjectMetaUpdate(next.metadata, previous.metadata),
    ],
  },
  hasScale: true,
  table: {
    columns: [
      NAME_COLUMN,
      column('Ready', 'Number of the pod with ready state'),
      AGE_COLUMN,
      column('Containers', 'Names of each container in the template.', { wide: true }),
      column('Images', 'Images referenced by each container in the template.', { wide: true }),
    ],
    cells: (object, now) => {
      const { metadata, spec = {}, status = {} } = asStatefulSet(object);
      const containers = spec.template?.spec?.containers ?? [];
      return [
        metadata.name,
        `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
        ageOf(metadata.creationTimestamp, now),
        containers.map(({ name }) => name ?? '').join(','),
        containers.map(({ image }) => image ?? '').join(','),
      ];
    },
  },
};

/** The field of a feature that is off by default (MaxUnavailableStatefulSet). */
function dropMaxUnavailable(object: AnyObject): void {
  delete asStatefulSet(object).spec?.updateStrategy?.rollingUpdate?.maxUnavailable;
}

/** SetDefaults_StatefulSet. */
function applyStatefulSetDefaults(spec: DecodedSpec): void {
  spec.podManagementPolicy ||= 'OrderedReady';
  const strategy = (spec.updateStrategy ??= {});
  if ((strategy.type ?? '') === '') {
    strategy.type = 'RollingUpdate';
    strategy.rollingUpdate ??= {};
  }
  if (strategy.type === 'RollingUpdate' && strategy.rollingUpdate !== undefined) strategy.rollingUpdate.partition ??= 0;
  const retention = (spec.persistentVolumeClaimRetentionPolicy ??= {});
  retention.whenDeleted ||= 'Retain';
  retention.whenScaled ||= 'Retain';
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  for (const claim of spec.volumeClaimTemplates ?? []) {
    (claim.spec ??= {}).volumeMode ??= 'Filesystem';
    (claim.status ??= {}).phase ||= 'Pending';
  }
  spec.template ??= {};
  spec.template.metadata ??= {};
  applyPodSpecDefaults((spec.template.spec ??= {}));
}

const POLICIES = ['OrderedReady', 'Parallel'];
const STRATEGIES = ['RollingUpdate', 'OnDelete'];
const oneOf = (choices: readonly string[]): string => `must be '${choices.join("' or '")}'`;

function validateSpec(spec: DecodedSpec): FieldError[] {
  const { podManagementPolicy = '', persistentVolumeClaimRetentionPolicy: retention = {} } = spec;
  return [
    ...(POLICIES.includes(podManagementPolicy) ? [] : [invalid('spec.podManagementPolicy', podManagementPolicy, oneOf(POLICIES))]),
    ...validateStrategy(spec.updateStrategy ?? {}),
    ...(['whenDeleted', 'whenScaled'] as const).flatMap((field) =>
      validateOptionalChoice(retention[field], `spec.persistentVolumeClaimRetentionPolicy.${field}`, ['Retain', 'Delete']),
    ),
    ...validateNonNegative(spec.replicas, 'spec.replicas'),
    ...validateNonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    ...validateNonNegative(spec.ordinals?.start, 'spec.ordinals.start'),
    ...validateSelector(spec),
    ...validateLastingTemplate(templateOfPods(spec), 'StatefulSet'),
  ];
}

function validateStrategy({ type = '', rollingUpdate }: NonNullable<DecodedSpec['updateStrategy']>): FieldError[] {
  const path = 'spec.updateStrategy';
  if (!STRATEGIES.includes(type)) return [invalid(path, { Type: type, RollingUpdate: rollingUpdate ?? null }, oneOf(STRATEGIES))];
  if (rollingUpdate === undefined) return [];
  if (type === 'OnDelete') return [invalid(`${path}.rollingUpdate`, rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'")];
  return validateNonNegative(rollingUpdate.partition, `${path}.rollingUpdate.partition`);
}

function validateSelector({ selector, template = {} }: DecodedSpec): FieldError[] {
  const labels = template.metadata?.labels ?? {};
  const mismatch = [invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')];
  if (selector === undefined || selector === null) return [required('spec.selector'), ...mismatch];
  const errors = validateLabelSelector(selector, 'spec.selector');
  const isEmpty = Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0;
  if (isEmpty) return [...errors, invalid('spec.selector', selector, 'empty selector is invalid for statefulset')];
  const requirements = usableRequirements(selector);
  return requirements === undefined || matchesLabelSelector(requirements, labels) ? errors : [...errors, ...mismatch];
}

/** The pods get a name and a subdomain of their own, and a volume for each claim, whatever the template says. */
function templateOfPods({ template = {}, volumeClaimTemplates = [] }: DecodedSpec): DecodedPodTemplate {
  const { subdomain: _subdomain, hostname: _hostname, volumes = [], ...rest } = template.spec ?? {};
  const claimed = volumeClaimTemplates.flatMap(({ metadata }) => (metadata?.name === undefined ? [] : [metadata.name]));
  const own = claimed.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return { ...template, spec: { ...rest, volumes: [...own, ...volumes.filter(({ name = '' }) => !claimed.includes(name))] } };
}

const UPDATE_FORBIDDEN =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

/** What an update may not change. */
function lasting(object: AnyObject): object {
  const { podManagementPolicy, selector, serviceName, volumeClaimTemplates } = asStatefulSet(object).spec ?? {};
  return { podManagementPolicy, selector, serviceName, volumeClaimTemplates };
}

const PARTS = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'] as const;

/** ValidateStatefulSetStatusUpdate. */
function validateStatus(status: DecodedStatus, previous: DecodedStatus): FieldError[] {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0, collisionCount } = status;
  const { collisionCount: before } = previous;
  const isDecremented = before !== undefined && (collisionCount === undefined || collisionCount < before);
  return [
    ...(['replicas', ...PARTS, 'observedGeneration', 'collisionCount'] as const).flatMap((field) =>
      validateNonNegative(status[field], `status.${field}`),
    ),
    ...PARTS.filter((field) => (status[field] ?? 0) > replicas).map((field) =>
      invalid(`status.${field}`, status[field], 'cannot be greater than status.replicas'),
    ),
    ...(availableReplicas > readyReplicas
      ? [invalid('status.availableReplicas', availableReplicas, 'cannot be greater than status.readyReplicas')]
      : []),
    ...(isDecremented ? [invalid('status.collisionCount', collisionCount ?? 0, 'cannot be decremented')] : []),
  ];
}
