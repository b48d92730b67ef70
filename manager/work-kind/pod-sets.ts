import type { DeepReadonly, PodSpec, PodTemplateSpec } from '../../shared/api/kubernetes.ts';
import { QuantityError } from '../../shared/kube/quantity.ts';
import { addRequests, multiplyRequests, parseAmount, type Requests } from '../api/amount.ts';
import type { JobRequests } from '../api/job-requests.ts';
import { podRequests } from '../api/pod-requests.ts';

/** Pods of one template. */
export type PodSet = {
  readonly name: string;
  /** The most pods at once. */
  readonly count: number;
  readonly template: DeepReadonly<PodTemplateSpec>;
  /** Requests of each pod beside those of its containers. */
  readonly perPod?: Requests;
  /** The least pods with which it may be admitted in part; absent: all. */
  readonly minCount?: number;
  /**
   * Its pods whose work is done, as their copy reports: another cluster would begin that work anew. Absent: `podsNeeded` of its kind
   * counts.
   */
  readonly finished?: number;
  /** The field of the template; absent: `spec.template`. */
  readonly field?: string;
};

/** The requests of all pods of these sets together. */
export function requestsOf(podSets: readonly PodSet[]): JobRequests {
  const pods: Requests = new Map([
    [
      'pods',
      parseAmount(
        'pods',
        podSets.reduce((sum, { count }) => sum + count, 0),
      ),
    ],
  ]);
  try {
    const each = podSets.map(({ count, template, perPod = NONE }) =>
      multiplyRequests(addRequests(podRequests(template.spec ?? { containers: [] }), perPod), count),
    );
    return { requests: new Map([...each.reduce(addRequests, NONE), ...pods]) };
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    return { requests: pods, problem: `resources of the pod template: ${error.message}` };
  }
}

const NONE: Requests = new Map();

/** The pods of the first set, by which nodes and priority are chosen. */
export const firstPodOf = ([first]: readonly PodSet[]): DeepReadonly<PodSpec> | undefined => first?.template.spec;
