import type { DeepReadonly, Unsaved, WorkObject } from '../../../shared/api/kubernetes.ts';
import { withValueAt } from '../../../shared/api/field-path.ts';
import type { AdmittedPods } from '../work-kind.ts';
import type { ReadPodSet } from './reading.ts';

/** An object as admitted: its pod sets have no more pods than their record admits. All other fields stay, and the object is not changed. */
export const admittedPart = <O extends DeepReadonly<Unsaved<WorkObject>>>(
  podSets: readonly ReadPodSet[],
  object: O,
  { parallelism, podSets: recorded }: AdmittedPods,
): O =>
  podSets.reduce((all, { name, count, countPath }) => {
    const alone = podSets.length === 1 ? parallelism : undefined;
    const admitted = recorded === undefined ? alone : recorded.find((each) => each.name === name)?.count;
    return countPath === undefined || admitted === undefined || count <= admitted ? all : withValueAt(all, countPath, admitted);
  }, object);
