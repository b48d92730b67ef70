import type { V1DeploymentSpec, V1DeploymentStatus } from '@kubernetes/client-node';
import type { Wire } from '../../api/kubernetes.ts';
import { matchesLabelSelector } from '../../kube/selectors.ts';
import { forbidden, invalid, notSupported, required, type FieldError } from '../apimachinery/field-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';
import type { ResourceStrategy, TablePrinter } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import type { Decoded, DecodedPodTemplate } from './decoded.ts';
import { keepSpec, restore } from './generation.ts';
import { formatSelector } from './label-selector-format.ts';
import { usableRequirements, validateLabelSelector } from './label-selector-validation.ts';
import { validateAtMostAll, validateIntOrPercent } from './int-or-percent-validation.ts';
import { validateNonNegative } from './number-validation.ts';
import { applyPodSpecDefaults } from './pod-defaults.ts';
import { validatePodTemplate } from './pod-template-validation.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

type DecodedDeploymentSpec = Decoded<Wire<V1DeploymentSpec>>;
type DecodedDeploymentStatus = Decoded<Wire<V1DeploymentStatus>>;
type DecodedDeployment = AnyObject & {
  spec?: DecodedDeploymentSpec | undefined;
  status?: DecodedDeploymentStatus | undefined;
};
/** The registry hands this strategy decoded Deployments only. */
const asDeployment = (object: AnyObject): DecodedDeployment => object as DecodedDeployment;

/** apps/v1 Deployment. */
export const deploymentStrategy: ResourceStrategy = {
  applyDefaults: (object) => applyDeploymentDefaults((asDeployment(object).spec ??= {})),
  prepareForCreate: (object) => {
    object['status'] = {};
    object.metadata.generation = 1;
  },
  validateCreate: (object) => validateDeployment(asDeployment(object)),
  prepareForUpdate: (next, previous) => {
    restore(next, previous, 'status');
    // Its annotations are passed on to what it makes, so they count as part of what is wanted.
    const same =
      semanticEqual(next['spec'], previous['spec']) && semanticEqual(next.metadata.annotations ?? {}, previous.metadata.annotations ?? {});
    next.metadata.generation = (previous.metadata.generation ?? 0) + (same ? 0 : 1);
  },
  validateUpdate: (next, previous) => [
    ...validateObjectMetaUpdate(next.metadata, previous.metadata),
    ...validateDeployment(asDeployment(next)),
    ...(semanticEqual(asDeployment(next).spec?.selector, asDeployment(previous).spec?.selector)
      ? []
      : [invalid('spec.selector', asDeployment(next).spec?.selector ?? null, 'field is immutable')]),
  ],
  status: {
    prepareForUpdate: keepSpec,
    validateUpdate: (next, previous) => [
      ...validateObjectMetaUpdate(next.metadata, previous.metadata),
      ...validateDeploymentStatus(asDeployment(next).status ?? {}, asDeployment(previous).status ?? {}),
    ],
  },
  hasScale: true,
  get table() {
    return table;
  },
};

/** SetDefaults_Deployment. */
function applyDeploymentDefaults(spec: DecodedDeploymentSpec): void {
  spec.replicas ??= 1;
  const strategy = (spec.strategy ??= {});
  strategy.type ||= 'RollingUpdate';
  if (strategy.type === 'RollingUpdate') {
    const rolling = (strategy.rollingUpdate ??= {});
    rolling.maxUnavailable ??= '25%';
    rolling.maxSurge ??= '25%';
  }
  spec.revisionHistoryLimit ??= 10;
  spec.progressDeadlineSeconds ??= 600;
  spec.template ??= {};
  spec.template.metadata ??= {};
  applyPodSpecDefaults((spec.template.spec ??= {}));
}

const validateDeployment = ({ metadata, spec = {} }: DecodedDeployment): FieldError[] => {
  const { progressDeadlineSeconds, minReadySeconds = 0 } = spec;
  return [
    ...validateObjectMeta(metadata, true, subdomainName),
    ...validateNonNegative(spec.replicas, 'spec.replicas'),
    ...validateSelector(spec),
    ...validateStrategy(spec.strategy ?? {}),
    ...validateNonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    ...validateNonNegative(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit'),
    ...validateNonNegative(progressDeadlineSeconds, 'spec.progressDeadlineSeconds'),
    ...(progressDeadlineSeconds !== undefined && progressDeadlineSeconds <= minReadySeconds
      ? [invalid('spec.progressDeadlineSeconds', progressDeadlineSeconds, 'must be greater than minReadySeconds')]
      : []),
  ];
};

function validateSelector({ selector, template = {} }: DecodedDeploymentSpec): FieldError[] {
  // An absent selector selects nothing, the labels of the template included.
  if (selector === undefined || selector === null) {
    const labels = template.metadata?.labels ?? {};
    return [required('spec.selector'), ...mismatch(labels), ...validateLastingTemplate(template)];
  }
  const errors = validateLabelSelector(selector, 'spec.selector');
  const isEmpty = Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0;
  if (isEmpty) errors.push(invalid('spec.selector', selector, 'empty selector is invalid for deployment'));
  const requirements = usableRequirements(selector);
  const labels = template.metadata?.labels ?? {};
  if (requirements !== undefined && !isEmpty && !matchesLabelSelector(requirements, labels)) {
    errors.push(...mismatch(labels));
  }
  return [...errors, ...validateLastingTemplate(template)];
}

const mismatch = (labels: object): FieldError[] =>
  Object.keys(labels).length === 0 ? [] : [invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')];

/**
 * ValidatePodTemplateSpecForReplicaSet, and ForRC: pods of this kind run until they are taken away. Deployments are refused as ReplicaSets.
 */
export function validateLastingTemplate(template: DecodedPodTemplate, kind = 'ReplicaSet'): FieldError[] {
  const { restartPolicy, activeDeadlineSeconds } = template.spec ?? {};
  return [
    ...validatePodTemplate(template, 'spec.template'),
    ...(restartPolicy === 'Always' ? [] : [notSupported('spec.template.spec.restartPolicy', restartPolicy ?? '', ['Always'])]),
    ...(activeDeadlineSeconds === undefined
      ? []
      : [forbidden('spec.template.spec.activeDeadlineSeconds', `activeDeadlineSeconds in ${kind} is not Supported`)]),
  ];
}

function validateStrategy({ type, rollingUpdate }: NonNullable<DecodedDeploymentSpec['strategy']>): FieldError[] {
  if (type === 'Recreate') {
    return rollingUpdate === undefined
      ? []
      : [forbidden('spec.strategy.rollingUpdate', "may not be specified when strategy `type` is 'Recreate'")];
  }
  if (type !== 'RollingUpdate') {
    return [notSupported('spec.strategy', { Type: type ?? '', RollingUpdate: rollingUpdate ?? null }, ['Recreate', 'RollingUpdate'])];
  }
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate ?? {};
  const errors = [
    ...validateIntOrPercent(maxUnavailable, 'spec.strategy.rollingUpdate.maxUnavailable'),
    ...validateIntOrPercent(maxSurge, 'spec.strategy.rollingUpdate.maxSurge'),
  ];
  if (isZero(maxUnavailable) && isZero(maxSurge)) {
    errors.push(invalid('spec.strategy.rollingUpdate.maxUnavailable', maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  }
  return [...errors, ...validateAtMostAll(maxUnavailable, 'spec.strategy.rollingUpdate.maxUnavailable')];
}

const isZero = (amount: unknown): boolean => amount === 0 || (typeof amount === 'string' && /^0+%$/.test(amount));

const COUNTS = ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas'] as const;

/** ValidateDeploymentStatusUpdate. */
function validateDeploymentStatus(status: DecodedDeploymentStatus, previous: DecodedDeploymentStatus): FieldError[] {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0, collisionCount } = status;
  const counted = (['updatedReplicas', 'readyReplicas', 'availableReplicas'] as const).filter((field) => (status[field] ?? 0) > replicas);
  const { collisionCount: before } = previous;
  const isDecremented = before !== undefined && (collisionCount === undefined || collisionCount < before);
  return [
    ...(['observedGeneration', ...COUNTS, 'terminatingReplicas', 'collisionCount'] as const).flatMap((field) =>
      validateNonNegative(status[field], `status.${field}`),
    ),
    ...counted.map((field) => invalid(`status.${field}`, status[field], 'cannot be greater than status.replicas')),
    ...(availableReplicas > readyReplicas
      ? [invalid('status.availableReplicas', availableReplicas, 'cannot be greater than readyReplicas')]
      : []),
    ...(isDecremented ? [invalid('status.collisionCount', collisionCount ?? 0, 'cannot be decremented')] : []),
  ];
}

const table: TablePrinter = {
  columns: [
    NAME_COLUMN,
    column('Ready', 'Number of the pod with ready state'),
    column('Up-to-date', 'Total number of non-terminated pods targeted by this deployment that have the desired template spec.'),
    column('Available', 'Total number of available pods (ready for at least minReadySeconds) targeted by this deployment.'),
    AGE_COLUMN,
    column('Containers', 'Names of each container in the template.', { wide: true }),
    column('Images', 'Images referenced by each container in the template.', { wide: true }),
    column('Selector', 'Label selector for pods.', { wide: true }),
  ],
  cells: (object, now) => {
    const { metadata, spec = {}, status = {} } = asDeployment(object);
    const containers = spec.template?.spec?.containers ?? [];
    return [
      metadata.name,
      `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
      status.updatedReplicas ?? 0,
      status.availableReplicas ?? 0,
      ageOf(metadata.creationTimestamp, now),
      containers.map(({ name }) => name ?? '').join(','),
      containers.map(({ image }) => image ?? '').join(','),
      formatSelector(spec.selector ?? undefined),
    ];
  },
};
