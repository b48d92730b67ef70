import { describe, expect, test } from 'vitest';
import { parseRequests } from '../../../../manager/api/amount.ts';
import { excess, formatRequests, forPods } from '../../../../manager/api/job-requests.ts';
import { aHomeJob } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';
import { requestsOf } from '../../../../manager/work-kind/pod-sets.ts';

const template = (requests: Record<string, string>) => ({ spec: { containers: [{ name: 'main', image: 'x', resources: { requests } }] } });

test('a Job requests what all pods request that it may have at once', () => {
  const job = aHomeJob({ spec: { parallelism: 3, completions: 9, template: template({ cpu: '500m', memory: '1Gi' }) } });
  expect(Object.fromEntries(requestsOf(JOB_KIND.podSets(job)).requests)).toEqual({ cpu: 1500, memory: 3 * 2 ** 30, pods: 3 });
});

test('what cannot be read is a problem, and nothing but the pods is counted', () => {
  const { requests, problem } = requestsOf(JOB_KIND.podSets(aHomeJob({ spec: { template: template({ cpu: 'lots' }) } })));
  expect([Object.fromEntries(requests), problem]).toEqual([
    { pods: 1 },
    expect.stringMatching(/^resources of the pod template: quantities/),
  ]);
});

test.each([
  { cpu: '1500m', memory: '1536Mi', pods: '3' },
  { cpu: '12345678901m', 'ephemeral-storage': '1Ki', 'nvidia.com/gpu': '8' },
  { 'hugepages-2Mi': '4Mi', memory: '9007199254740991', pods: '1k' },
])('a record holds quantities that are read as the same amounts: %j', (quantities) => {
  const requests = parseRequests(quantities);
  expect(parseRequests(formatRequests(requests))).toEqual(requests);
});

test('what is not asked for is left out of the record, and the order is by name', () => {
  expect(JSON.stringify(formatRequests(parseRequests({ pods: '1', memory: '0', cpu: '1' })))).toBe('{"cpu":"1","pods":"1"}');
});

describe('more than is reserved', () => {
  const beyond = (asked: Record<string, string>, reserved: Record<string, string>) => excess(parseRequests(asked), parseRequests(reserved));
  test('is told by resource', () => {
    expect(beyond({ cpu: '2', pods: '3' }, { cpu: '500m', pods: '1' })).toBe('1500m cpu and 2 pods');
    expect(beyond({ memory: '1Gi' }, {})).toBe('1Gi memory');
  });
  test('is nothing where as much or less is asked for', () => {
    expect(beyond({ cpu: '1', memory: '0' }, { cpu: '1', pods: '1' })).toBeUndefined();
  });
});

const eight = parseRequests({ cpu: '10', memory: '8Gi', pods: '8' });
const three = parseRequests({ cpu: '3750m', memory: '3Gi', pods: '3' });

test('so many of equal pods request their share, exactly', () => {
  expect(forPods(eight, 3)).toEqual(three);
  expect(forPods(eight, 0)).toEqual(parseRequests({ cpu: '0', memory: '0', pods: '0' }));
  expect(forPods(parseRequests({ cpu: '300m', pods: '3' }), 1)).toEqual(parseRequests({ cpu: '100m', pods: '1' }));
});

test.each([undefined, 8, 9])('no fewer than all (%s) request all', (count) => {
  expect(forPods(eight, count)).toBe(eight);
});
