import { expect, test } from 'vitest';
import { partiallyReleased, PartialReleases } from '../../../../../manager/admission/eviction/partial-release.ts';
import { recordedRequests } from '../../../../../manager/admission/workload/reservation.ts';
import type { Workload } from '../../../../../manager/admission/workload/workload.ts';
import { parseRequests } from '../../../../../manager/api/amount.ts';
import { aRecord } from '../../../../support/jobs.ts';
import { aCluster, aWorkload } from '../setup.ts';

const lowered = (parts: Partial<Workload> = {}, cluster = aCluster('eu-1')) => {
  const asked = parseRequests({ cpu: '2', pods: '2' });
  const workload = aWorkload('a', {}, { phase: 'Admitted', requests: asked, podsTold: 2, ...parts });
  const record = aRecord({ requests: { cpu: '4', pods: '4' } });
  return partiallyReleased({ workload, record, held: parseRequests(record.requests), assumed: false }, [cluster])?.requests;
};

test('an admitted Job that asks for less holds less once its cluster tells of no more pods than that', () => {
  expect(lowered()).toEqual({ cpu: '2', pods: '2' });
  expect(lowered({ podsTold: 1 })).toEqual({ cpu: '2', pods: '2' });
});

test.each<[string, Partial<Workload>]>([
  ['more pods are there', { podsTold: 3 }],
  ['no pod is there, which proves nothing', { podsTold: 0 }],
  ['it is being evicted', { phase: 'Evicting' }],
  ['it asks for as much', { requests: parseRequests({ cpu: '4', pods: '4' }) }],
  ['it asks for more of one thing', { requests: parseRequests({ cpu: '2', memory: '1Gi', pods: '2' }) }],
  ['it is of another kind, whose copy keeps its pods', { name: 'crews.example.com:a' }],
  ['it cannot be read', { problem: 'resources of the pod template: no' }],
])('it holds what it held while %s', (_why, parts) => {
  expect(lowered(parts)).toBeUndefined();
});

test('it holds what it held while its cluster is away, or is not known', () => {
  expect(lowered({}, aCluster('eu-1', { connected: false }))).toBeUndefined();
  expect(lowered({}, aCluster('us-1'))).toBeUndefined();
});

test('what its queue charges is lowered with it', () => {
  const asked = parseRequests({ cpu: '2', pods: '2' });
  const workload = aWorkload('a', {}, { phase: 'Admitted', requests: asked, podsTold: 2 });
  const record = aRecord({ requests: { cpu: '4', pods: '4' }, charged: { credits: '12', pods: '4' } });
  const held = recordedRequests(record);
  expect(partiallyReleased({ workload, record, held, assumed: false }, [aCluster('eu-1')])).toEqual({
    ...record,
    requests: { cpu: '2', pods: '2' },
    charged: { credits: '6', pods: '2' },
  });
  const whole = { ...workload, requests: parseRequests({ cpu: '4', pods: '4' }) };
  expect(partiallyReleased({ workload: whole, record, held, assumed: false }, [aCluster('eu-1')])).toBeUndefined();
});

test('a smaller record is due once the Job could have held less for 10 s, counted anew when it could not in between', () => {
  const releases = new PartialReleases();
  const asking = (cpu: string) => {
    const workload = aWorkload('a', {}, { phase: 'Admitted', requests: parseRequests({ cpu, pods: '2' }), podsTold: 2 });
    const record = aRecord({ requests: { cpu: '4', pods: '4' } });
    return { workload, record, held: parseRequests(record.requests), assumed: false };
  };
  const find = (cpu: string, nowMs: number) => {
    const { due, againAfterMs } = releases.find([asking(cpu)], [aCluster('eu-1')], nowMs);
    return [...due.map(({ workload, record }) => `${workload.name} ${record.requests['cpu']}`), againAfterMs];
  };
  expect(find('2', 0)).toEqual([10_000]);
  expect(find('2', 9_000)).toEqual([undefined]);
  expect(find('5', 9_500)).toEqual([undefined]);
  expect(find('2', 10_000)).toEqual([10_000]);
  expect(find('2', 20_000)).toEqual(['a 2', undefined]);
});
