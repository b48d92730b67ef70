import { describe, expect, test } from 'vitest';
import { humanDuration } from '../../../../../shared/controlplane/kinds/age.ts';
import { jobTable } from '../../../../../shared/controlplane/kinds/job-table.ts';
import { podTable } from '../../../../../shared/controlplane/kinds/pod-table.ts';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import type { TablePrinter } from '../../../../../shared/controlplane/resources/strategy.ts';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const object = (fields: object, meta: object = {}): AnyObject => ({
  metadata: { name: 'x', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', ...meta },
  ...fields,
});
const shown = (table: TablePrinter, of: AnyObject): Record<string, unknown> => {
  const cells = table.cells(of, NOW);
  return Object.fromEntries(table.columns.map(({ name }, i) => [name, cells[i]]));
};

test.each([
  [0, '0s'],
  [119_000, '119s'],
  [125_000, '2m5s'],
  [600_000, '10m'],
  [3 * 3600_000, '3h'],
  [3 * 3600_000 + 20 * 60_000, '3h20m'],
  [49 * 3600_000, '2d1h'],
  [200 * 24 * 3600_000, '200d'],
  [800 * 24 * 3600_000, '2y70d'],
  [-5_000, '<invalid>'],
])('%i ms are shown as %s', (ms, text) => expect(humanDuration(ms)).toBe(text));

describe('a Job is shown', () => {
  const conditions = (...types: string[]) => types.map((type) => ({ type, status: 'True' }));
  test.each<[string, AnyObject]>([
    ['Complete', object({ status: { conditions: conditions('SuccessCriteriaMet', 'Complete') } }, { deletionTimestamp: 'x' })],
    ['Terminating', object({ status: { conditions: conditions('Suspended') } }, { deletionTimestamp: 'x' })],
    ['Suspended', object({ status: { conditions: conditions('Suspended') } })],
    ['FailureTarget', object({ status: { conditions: conditions('FailureTarget') } })],
    ['Running', object({ status: {} })],
  ])('as %s', (status, job) => expect(shown(jobTable, job)['Status']).toBe(status));
  test.each([
    [{ completions: 5, parallelism: 2 }, '3/5'],
    [{ parallelism: 4 }, '3/1 of 4'],
    [{ parallelism: 1 }, '3/1'],
  ])('with %j as %s', (spec, completions) => {
    expect(shown(jobTable, object({ spec, status: { succeeded: 3 } }))['Completions']).toBe(completions);
  });
  test('with the time it has taken so far', () => {
    expect(shown(jobTable, object({ status: { startTime: '2026-01-01T00:55:00Z' } }))['Duration']).toBe('5m');
    expect(shown(jobTable, object({ status: {} }))['Duration']).toBe('');
  });
});

describe('a pod is shown', () => {
  const containers = [
    { name: 'a', image: 'i' },
    { name: 'b', image: 'i' },
  ];
  const pod = (status: object, meta: object = {}, spec: object = {}) => object({ spec: { containers, ...spec }, status }, meta);
  const waiting = (reason: string) => ({ name: 'a', state: { waiting: { reason } } });
  const ended = (exitCode: number, reason?: string) => ({ name: 'a', state: { terminated: { exitCode, reason } } });
  const init = { initContainers: [{ name: 'i', image: 'i' }] };
  test.each<[string, AnyObject]>([
    ['Pending', pod({ phase: 'Pending' })],
    ['Evicted', pod({ phase: 'Failed', reason: 'Evicted' })],
    ['SchedulingGated', pod({ phase: 'Pending', conditions: [{ type: 'PodScheduled', reason: 'SchedulingGated' }] })],
    ['ImagePullBackOff', pod({ phase: 'Pending', containerStatuses: [waiting('ImagePullBackOff')] })],
    ['Completed', pod({ phase: 'Succeeded', containerStatuses: [ended(0, 'Completed')] })],
    ['ExitCode:3', pod({ phase: 'Failed', containerStatuses: [ended(3)] })],
    ['Init:0/1', pod({ phase: 'Pending', initContainerStatuses: [{ name: 'i', state: { running: {} } }] }, {}, init)],
    ['Init:CrashLoopBackOff', pod({ phase: 'Pending', initContainerStatuses: [waiting('CrashLoopBackOff')] }, {}, init)],
    ['Terminating', pod({ phase: 'Running' }, { deletionTimestamp: 'x' })],
    ['Completed', pod({ phase: 'Succeeded', containerStatuses: [ended(0, 'Completed')] }, { deletionTimestamp: 'x' })],
  ])('as %s', (status, of) => expect(shown(podTable, of)['Status']).toBe(status));
  test('with its ready containers and its restarts', () => {
    const status = {
      phase: 'Running',
      containerStatuses: [
        {
          name: 'a',
          ready: true,
          restartCount: 2,
          state: { running: {} },
          lastState: { terminated: { finishedAt: '2026-01-01T00:58:00Z' } },
        },
        { name: 'b', ready: false, restartCount: 1, state: { running: {} } },
      ],
    };
    expect(shown(podTable, pod(status))).toMatchObject({ Ready: '1/2', Restarts: '3 (2m ago)', Age: '60m', IP: '<none>' });
  });
  test('with a mark when it has ended', () => {
    expect(podTable.rowConditions?.(pod({ phase: 'Running' }))).toBeUndefined();
    expect(podTable.rowConditions?.(pod({ phase: 'Failed' }))).toMatchObject([{ type: 'Completed', reason: 'Failed' }]);
  });
});
