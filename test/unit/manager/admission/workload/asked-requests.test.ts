import { expect, test } from 'vitest';
import { askedRequests, stillAsked } from '../../../../../manager/admission/workload/asked-requests.ts';
import { AS_WRITTEN, type PodAdjustments } from '../../../../../manager/api/adjusted-pod.ts';
import { parseRequests } from '../../../../../manager/api/amount.ts';
import { aHomeJob, aRecord } from '../../../../support/jobs.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import { requestsOf } from '../../../../../manager/work-kind/pod-sets.ts';

const job = aHomeJob({ spec: { parallelism: 4, completions: 4 } });
const podSets = JOB_KIND.podSets(job);
const written = requestsOf(podSets);
const adjustments = (limits: object): PodAdjustments => ({
  limitRanges: () => [{ metadata: { ...job.metadata, name: 'r' }, spec: { limits: [{ type: 'Container', ...limits }] } }],
  overhead: () => undefined,
});

test('what pods are made with counts for each of them, and what forbids them is told', () => {
  expect(askedRequests(podSets, 'team', written, AS_WRITTEN)).toBe(written);
  expect(askedRequests(podSets, 'team', written, adjustments({ defaultRequest: { cpu: '500m' } }))).toEqual({
    requests: parseRequests({ cpu: '2', pods: '4' }),
    forbidden: undefined,
  });
  expect(askedRequests(podSets, 'team', written, adjustments({ min: { cpu: '1' } })).forbidden).toMatch(/^limit range r: container main /);
});

test('an admitted Job asks for what it was admitted with, whatever its namespace has said since', () => {
  const asked = parseRequests({ cpu: '8', pods: '4' });
  const still = (requests: Record<string, string>, others: object = {}) =>
    stillAsked(4, aRecord({ requests, ...others }), written.requests, asked);
  expect(still({ cpu: '2', pods: '4' })).toEqual(parseRequests({ cpu: '2', pods: '4' }));
  expect(still({ pods: '4' })).toEqual(parseRequests({ pods: '4' }));
  expect(still({ cpu: '3', pods: '3' }, { parallelism: 3 })).toEqual(parseRequests({ cpu: '3', pods: '3' }));
  // It has fewer pods now.
  expect(still({ cpu: '6', pods: '6' })).toEqual(parseRequests({ cpu: '4', pods: '4' }));
  // It has more.
  expect(still({ cpu: '1', pods: '2' })).toBe(asked);
  expect(stillAsked(4, aRecord(), written.requests, written.requests)).toBe(written.requests);
});
