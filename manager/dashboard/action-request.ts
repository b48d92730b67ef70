import { isJsonObject } from '../api/json-value.ts';
import type { ActionRequest } from './views.ts';

export const JOBS_MAX = 1_000;
const JOB_ACTIONS = ['Cancel', 'Hold', 'Release'] as const;
const CLUSTER_ACTIONS = ['Cordon', 'Uncordon', 'Drain'] as const;
const JOB_KEY = /^[a-z0-9][-a-z0-9]{0,62}(\/[a-z0-9][-a-z0-9]*\.[a-z0-9][-a-z0-9.]{0,252})?\/[a-z0-9][-a-z0-9.]{0,252}$/;
const CLUSTER_NAME = /^[a-z0-9][-a-z0-9.]{0,252}$/;

/** The action of a request body; `problem` where the body is malformed. */
export function parseActionRequest(body: unknown): ActionRequest | { readonly problem: string } {
  if (!isJsonObject(body)) return { problem: 'the body is no object' };
  const ofJobs = JOB_ACTIONS.find((each) => each === body['action']);
  if (ofJobs !== undefined) {
    const { jobs, count } = body;
    if (!Array.isArray(jobs) || !jobs.every((each) => typeof each === 'string' && JOB_KEY.test(each)))
      return { problem: 'jobs: write a list of NAMESPACE/NAME, or NAMESPACE/RESOURCE.GROUP/NAME for other kinds than Job' };
    const keys = jobs as readonly string[];
    if (keys.length === 0 || keys.length > JOBS_MAX) return { problem: `jobs: write 1 to ${JOBS_MAX} of them` };
    if (new Set(keys).size !== keys.length) return { problem: 'jobs: one of them is there twice' };
    if (count !== keys.length) return { problem: `count: these are ${keys.length} Jobs, and another number was confirmed` };
    return { action: ofJobs, jobs: keys, count: keys.length };
  }
  const ofCluster = CLUSTER_ACTIONS.find((each) => each === body['action']);
  if (ofCluster === undefined) return { problem: `action: write one of ${[...JOB_ACTIONS, ...CLUSTER_ACTIONS].join(', ')}` };
  const { cluster } = body;
  if (typeof cluster !== 'string' || !CLUSTER_NAME.test(cluster)) return { problem: 'cluster: write its name' };
  return { action: ofCluster, cluster };
}
