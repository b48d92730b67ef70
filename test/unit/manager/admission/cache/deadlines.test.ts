import { expect, test } from 'vitest';
import { createDeadlines } from '../../../../../manager/admission/cache/deadlines.ts';
import type { Reservation } from '../../../../../manager/admission/workload/reservation.ts';
import { aRecord } from '../../../../support/jobs.ts';
import { aWorkload } from '../setup.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const MINUTE = 60_000;
const admitted = (name: string, since: string, parts = {}): Reservation => ({
  workload: aWorkload(name, {}, { phase: 'Admitted', ...parts }),
  record: aRecord({ since }),
  held: new Map(),
  assumed: false,
});

test('those whose time is over are found until they are looked at anew, and the next time is told', () => {
  const deadlines = createDeadlines(({ workload, record }) =>
    workload.started ? undefined : { dueMs: Date.parse(record.since) + 3 * MINUTE },
  );
  for (const [name, minute] of [
    ['b', 1],
    ['a', 0],
    ['c', 2],
  ] as const)
    deadlines.watch(admitted(name, `2026-01-01T00:0${minute}:00Z`));
  const at = (minutes: number) => {
    const { found, nextMs } = deadlines.overdue(START + minutes * MINUTE);
    return [
      found.map(({ reservation }) => reservation.workload.name).toSorted(),
      nextMs === undefined ? undefined : (nextMs - START) / MINUTE,
    ];
  };
  expect(at(2.9)).toEqual([[], 3]);
  expect(at(4)).toEqual([['a', 'b'], 5]);
  expect(at(4)).toEqual([['a', 'b'], 5]);
  deadlines.watch(admitted('a', '2026-01-01T00:00:00Z', { started: true }));
  deadlines.forget('team/b');
  expect(at(5)).toEqual([['c'], undefined]);
});
