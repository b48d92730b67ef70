import type { DecodedJob } from './decoded.ts';
import { dns1123LabelProblems } from '../../kube/name-formats.ts';
import { podTemplateWarnings } from './pod-warnings.ts';

const MANY_COMPLETIONS = 100_000;
const HIGH_PARALLELISM = 10_000;

/** Values of the Warning headers that accompany an accepted Job. */
export const jobWarnings = (job: DecodedJob, verb: 'create' | 'update'): string[] => {
  const { metadata, spec = {} } = job;
  const warnings: string[] = [];
  const problems = verb === 'create' ? dns1123LabelProblems(metadata.name) : [];
  if (problems.length > 0) {
    const advice = 'this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended';
    warnings.push(`metadata.name: ${advice}: [${problems.join(' ')}]`);
  }
  const { completions = 0, parallelism = 0 } = spec;
  if (spec.completionMode === 'Indexed' && completions > MANY_COMPLETIONS && parallelism > HIGH_PARALLELISM) {
    warnings.push(
      'spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail',
    );
  }
  return [...warnings, ...podTemplateWarnings(spec.template ?? {}, 'spec.template')];
};
