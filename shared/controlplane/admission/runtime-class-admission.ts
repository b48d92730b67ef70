import type { Wire } from '../../api/kubernetes.ts';
import type { V1Toleration } from '@kubernetes/client-node';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { asPod, type Decoded, type DecodedPodSpec } from '../kinds/decoded.ts';
import { asRuntimeClass, type DecodedRuntimeClass } from '../kinds/runtime-class.ts';
import { type Admission, type AdmissionRequest, refusal } from './admission-request.ts';

type Toleration = Decoded<Wire<V1Toleration>>;

/** The plugin RuntimeClass: a new pod gets the overhead, node selector and tolerations of its class, which must be there. */
export const createRuntimeClassAdmission = (classNamed: (name: string) => AnyObject | undefined): Admission => ({
  mutate: (request) => {
    const spec = specOfNewPod(request);
    const runtimeClass = spec === undefined ? undefined : classOf(request, spec, classNamed);
    if (spec === undefined || runtimeClass === undefined) return undefined;
    const { overhead, scheduling } = runtimeClass;
    if (overhead !== undefined && overhead !== null) {
      if (Object.keys(spec.overhead ?? {}).length > 0 && !semanticEqual(overhead.podFixed ?? {}, spec.overhead)) {
        throw refusal(request, OTHER_OVERHEAD);
      }
      if (overhead.podFixed === undefined) delete spec.overhead;
      else spec.overhead = { ...overhead.podFixed };
    }
    if (scheduling !== undefined && scheduling !== null) {
      selectNodes(request, spec, scheduling.nodeSelector ?? {});
      const tolerations = mergeTolerations([...(spec.tolerations ?? []), ...(scheduling.tolerations ?? [])]);
      if (tolerations.length > 0) spec.tolerations = tolerations;
    }
    return undefined;
  },
  validate: (request) => {
    const spec = specOfNewPod(request);
    if (spec === undefined) return undefined;
    const overhead = classOf(request, spec, classNamed)?.overhead;
    if (overhead === undefined || overhead === null) {
      if (spec.overhead !== undefined)
        throw refusal(request, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
    } else if (!semanticEqual(overhead.podFixed ?? {}, spec.overhead ?? {})) throw refusal(request, OTHER_OVERHEAD);
    return undefined;
  },
});

const OTHER_OVERHEAD = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

function specOfNewPod({ resource, subresource, operation, object }: AdmissionRequest): DecodedPodSpec | undefined {
  const isNewPod = operation === 'CREATE' && resource.group === '' && resource.resource === 'pods' && subresource === '';
  return isNewPod && object !== undefined ? asPod(object).spec : undefined;
}

function classOf(
  request: AdmissionRequest,
  { runtimeClassName }: DecodedPodSpec,
  classNamed: (name: string) => AnyObject | undefined,
): DecodedRuntimeClass | undefined {
  if (runtimeClassName === undefined || runtimeClassName === null) return undefined;
  const found = classNamed(runtimeClassName);
  if (found === undefined) throw refusal(request, `pod rejected: RuntimeClass ${JSON.stringify(runtimeClassName)} not found`);
  return asRuntimeClass(found);
}

function selectNodes(request: AdmissionRequest, spec: DecodedPodSpec, ofClass: Readonly<Record<string, string>>): void {
  const own = spec.nodeSelector ?? {};
  for (const [key, value] of Object.entries(ofClass)) {
    if (!Object.hasOwn(own, key) || own[key] === value) continue;
    const theirs = `runtimeClass.scheduling.nodeSelector[${key}] = ${value}`;
    throw refusal(request, `conflict: ${theirs}; pod.spec.nodeSelector[${key}] = ${own[key]}`);
  }
  if (Object.keys(ofClass).length > 0) spec.nodeSelector = { ...own, ...ofClass };
}

/** Those that another one does not cover (MergeTolerations); of equal ones the first stays. */
const mergeTolerations = (all: readonly Toleration[]): Toleration[] => {
  const merged: Toleration[] = [];
  for (const [index, toleration] of all.entries()) {
    const isCovered =
      merged.some((other) => covers(other, toleration)) ||
      all.slice(index + 1).some((other) => !semanticEqual(other, toleration) && covers(other, toleration));
    if (!isCovered) merged.push(toleration);
  }
  return merged;
};

function covers(wider: Toleration, toleration: Toleration): boolean {
  if (semanticEqual(wider, toleration)) return true;
  const { key = '', operator = '', effect = '', value = '', tolerationSeconds } = wider;
  if ((toleration.key ?? '') !== key && (key !== '' || operator !== 'Exists')) return false;
  if ((toleration.effect ?? '') !== effect && effect !== '') return false;
  if (effect === 'NoExecute' && tolerationSeconds !== undefined && (toleration.tolerationSeconds ?? Infinity) > tolerationSeconds)
    return false;
  if (operator === 'Exists') return true;
  return (operator === '' || operator === 'Equal') && toleration.operator === 'Equal' && (toleration.value ?? '') === value;
}
