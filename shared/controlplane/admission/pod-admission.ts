import type { Admission } from './admission-request.ts';
import { forbidden } from '../apimachinery/status-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { asPod, type DecodedPod, type DecodedPodSpec } from '../kinds/decoded.ts';
import { asPriorityClass } from '../kinds/priority-class.ts';

/** What admission of pods reads of the rest of the cluster. */
export type PodAdmissionLookups = {
  priorityClass(name: string): AnyObject | undefined;
  priorityClasses(): readonly AnyObject[];
};

/** The plugins Priority, which also sees that there is one default class, and DefaultTolerationSeconds. They change pods in hand. */
export const createPodAdmission = (lookups: PodAdmissionLookups): Admission => ({
  mutate: ({ resource, subresource, operation, object, oldObject }) => {
    const isPod = resource.group === '' && resource.resource === 'pods' && subresource === '';
    if (!isPod || object === undefined) return undefined;
    if (operation === 'CREATE') admitNewPod(object, lookups);
    else if (oldObject !== undefined) admitUpdatedPod(object, oldObject);
    return undefined;
  },
  validate: ({ resource, operation, name, object }) => {
    if (resource.group !== PRIORITY_GROUP || resource.resource !== 'priorityclasses' || operation === 'DELETE') return undefined;
    if (object === undefined || asPriorityClass(object).globalDefault !== true) return undefined;
    const other = defaultClass(lookups)?.metadata.name;
    if (other === undefined || (operation === 'UPDATE' && other === object.metadata.name)) return undefined;
    const why = `PriorityClass ${other} is already marked as default. Only one default can exist`;
    throw forbidden(resource, object.metadata.name || name, why);
  },
});

const PRIORITY_GROUP = 'scheduling.k8s.io';
const EVICTED_AFTER_SECONDS = 300;
const NODE_TROUBLES = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'] as const;

/** Throws 403 for an unknown class, or for a priority that the pod's class does not give. */
const admitNewPod = (object: AnyObject, lookups: PodAdmissionLookups): void => {
  const pod = asPod(object);
  const spec = (pod.spec ??= {});
  setPriority(pod, spec, lookups);
  tolerateNodeTroubles(spec);
};

/** An update keeps the priority, and the toleration of troubles. */
const admitUpdatedPod = (object: AnyObject, previous: AnyObject): void => {
  const spec = asPod(object).spec;
  const old = asPod(previous).spec;
  if (spec === undefined) return;
  if (old?.priority !== undefined) spec.priority ??= old.priority;
  if (old?.preemptionPolicy !== undefined) spec.preemptionPolicy ??= old.preemptionPolicy;
  tolerateNodeTroubles(spec);
};

const setPriority = (pod: DecodedPod, spec: DecodedPodSpec, lookups: PodAdmissionLookups): void => {
  const { name, generateName = '' } = pod.metadata;
  const refuse = (why: string): never => {
    throw forbidden({ group: '', resource: 'pods' }, name || generateName || 'Unknown', why);
  };
  const className = spec.priorityClassName ?? '';
  const found = className === '' ? defaultClass(lookups) : lookups.priorityClass(className);
  if (className !== '' && found === undefined) refuse(`no PriorityClass with name ${className} was found`);
  const given = found === undefined ? undefined : asPriorityClass(found);
  const { value = 0, preemptionPolicy = 'PreemptLowerPriority' } = given ?? {};
  if (given !== undefined) spec.priorityClassName = given.metadata.name;
  const computed = 'priority admission controller computed';
  if (spec.priority !== undefined && spec.priority !== value) {
    const given = `the integer value of priority (${spec.priority}) must not be provided in pod spec`;
    refuse(`${given}; ${computed} ${value} from the given PriorityClass name`);
  }
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy) {
    const given = `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec`;
    refuse(`${given}; ${computed} ${preemptionPolicy} from the given PriorityClass name`);
  }
  spec.priority = value;
  spec.preemptionPolicy = preemptionPolicy;
};

/** Should several be marked as default, the lowest counts. */
const defaultClass = (lookups: PodAdmissionLookups): AnyObject | undefined =>
  lookups
    .priorityClasses()
    .map(asPriorityClass)
    .filter(({ globalDefault }) => globalDefault === true)
    .toSorted((a, b) => (a.value ?? 0) - (b.value ?? 0))[0];

/** A pod stays on a node in trouble for five minutes, unless it says otherwise. */
const tolerateNodeTroubles = (spec: DecodedPodSpec): void => {
  const tolerations = spec.tolerations ?? [];
  const missing = NODE_TROUBLES.filter(
    (trouble) =>
      !tolerations.some(({ key = '', effect = '' }) => (key === trouble || key === '') && (effect === 'NoExecute' || effect === '')),
  );
  if (missing.length === 0) return;
  const added = missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: EVICTED_AFTER_SECONDS }));
  spec.tolerations = [...tolerations, ...added];
};
