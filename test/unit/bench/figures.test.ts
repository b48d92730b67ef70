import { expect, test } from 'vitest';
import { type Figures, figuresOf, slowProbes, violations } from '../../bench/job-controller/figures.ts';
import { parseSamples } from '../../bench/prometheus-text.ts';

const reading = (posts: number, patches: number, puts: number, created: number, freed: number): string => `
rest_client_requests_total{code="201",method="POST",host="h"} ${posts}
rest_client_requests_total{code="200",method="PATCH",host="h"} ${patches}
rest_client_requests_total{code="200",method="PUT",host="h"} ${puts}
rest_client_requests_total{code="200",method="GET",host="h"} 4
job_controller_job_pods_creation_total{reason="new",status="succeeded"} ${created}
job_controller_terminated_pods_tracking_finalizer_total{event="delete"} ${freed}
`;

const figures = (): Figures =>
  figuresOf(parseSamples(reading(0, 0, 0, 0, 0)), parseSamples(reading(110, 115, 4, 100, 100)), {
    pods: 100,
    seconds: 6,
    cpuSeconds: 4,
    serverCpuSeconds: 9,
    peakBytes: 2 ** 20,
  });

test('what is neither a pod created nor a finalizer removed is an Event', () => {
  const { calls, podsPerMinute, refusedCalls, cpuSeconds } = figures();
  expect(calls).toEqual({ create: 1, finalizer: 1, status: 0.04, events: 0.25, other: 0, all: 2.29 });
  expect({ podsPerMinute, refusedCalls, cpuSeconds }).toEqual({ podsPerMinute: 1000, refusedCalls: 0, cpuSeconds: 4 });
});

test('figures within their range are no violations, also by a rounding error', () => {
  expect(violations(figures(), { callsPerPodMax: 2.29, ownCallsPerPodMax: 2.04, secondsMax: 6 })).toEqual([]);
});

test('figures outside their range are named', () => {
  expect(violations(figures(), { callsPerPodMax: 2.28, ownCallsPerPodMax: 2.03, secondsMax: 5 })).toEqual([
    '2.29 calls a pod, permitted are 2.28',
    '2.04 calls a pod without Events, permitted are 2.03',
    '6.0 s, permitted are 5 s',
  ]);
});

test('a small Job that waited for the load beside it is out of range, where the load has one', () => {
  const permitted = { callsPerPodMax: 1, ownCallsPerPodMax: 1 };
  expect(slowProbes([1_200, 9_000], permitted)).toEqual([]);
  expect(slowProbes([1_200, 4_900], { ...permitted, probeSecondsMax: 5 })).toEqual([]);
  expect(slowProbes([1_200, 9_000], { ...permitted, probeSecondsMax: 5 })).toEqual([
    'a Job of one pod beside it took 9.0 s, permitted are 5 s',
  ]);
});
