import { expect, test } from 'vitest';
import { parseRequests } from '../../../../manager/api/amount.ts';
import { firstPodOf, requestsOf, type PodSet } from '../../../../manager/work-kind/pod-sets.ts';

const podSet = (name: string, count: number, requests: Record<string, string>): PodSet => ({
  name,
  count,
  template: { spec: { containers: [{ name: 'main', resources: { requests } }] } },
});

test('the pods of several sets ask for what all of them ask for together', () => {
  const sets = [podSet('head', 1, { cpu: '2' }), podSet('workers', 3, { cpu: '500m', memory: '1Gi' })];
  expect(requestsOf(sets)).toEqual({ requests: parseRequests({ cpu: '3500m', memory: '3Gi', pods: '4' }) });
});

test('a set whose requests cannot be read leaves the number of pods, and says why', () => {
  const { requests, problem } = requestsOf([podSet('head', 1, { cpu: '1' }), podSet('workers', 2, { cpu: 'much' })]);
  expect(requests).toEqual(parseRequests({ pods: '3' }));
  expect(problem).toMatch(/^resources of the pod template: /);
});

test('the first set chooses nodes and priority', () => {
  const sets = [podSet('head', 1, { cpu: '2' }), podSet('workers', 3, {})];
  expect(firstPodOf(sets)).toBe(sets[0]?.template.spec);
  expect(firstPodOf([])).toBeUndefined();
});
