import { describe, expect, test } from 'vitest';
import { earlierOf, keptPastOf, pastOf, stateAt, waitingMs, type KeptAdmissions } from '../../../../manager/api/past-admissions.ts';
import { endedRecord } from '../../../../manager/admission/cache/execution-time.ts';
import type { AdmissionRecord } from '../../../../manager/api/records.ts';
import { seededRandom } from '../../../../shared/runtime/random.ts';
import { ACTS_ANNOTATION } from '../../../../shared/api/names.ts';
import { aHomeJob, aRecord } from '../../../support/jobs.ts';

const T = Date.parse('2026-01-01T00:00:00Z');
const at = (seconds: number): string => new Date(T + seconds * 1000).toISOString().replace('.000', '');
const past = (since: number, until: number, cluster = 'east') => ({ cluster, since: at(since), until: at(until) });
const span = (from: number, until: number, cluster = 'east') => ({ fromMs: T + from * 1000, untilMs: T + until * 1000, cluster });

test('a Job that was never evicted or held keeps nothing but its admission', () => {
  expect([earlierOf(aHomeJob(), undefined), earlierOf(aHomeJob(), aRecord())]).toEqual([undefined, undefined]);
  expect(pastOf({})).toMatchObject({ admissions: [] });
  expect(pastOf({ admittedMs: T + 1_000, cluster: 'east' }).admissions).toEqual([{ fromMs: T + 1_000, cluster: 'east' }]);
});

test('seconds of admissions that are not among those recorded make what was before unknown', () => {
  const record = (executedSeconds: number) =>
    aRecord({ since: at(100), executedSeconds, pastAdmissions: [past(20, 30), past(40, 60, 'west')] });
  expect(earlierOf(aHomeJob(), record(30))).toEqual({
    admissions: [span(20, 30), span(40, 60, 'west')],
    holds: [],
    isOver: false,
  });
  expect(earlierOf(aHomeJob(), record(31))?.unknownUntilMs).toBe(T + 20_000);
  expect(earlierOf(aHomeJob(), aRecord({ since: at(100), executedSeconds: 5 }))?.unknownUntilMs).toBe(T + 100_000);
  expect(earlierOf(aHomeJob(), aRecord({ evicted: true, executedSeconds: 5 }))?.unknownUntilMs).toBe(Number.POSITIVE_INFINITY);
});

test('past admissions that took longer together than the seal says are not of the manager', () => {
  const forged = { executedSeconds: 5, pastAdmissions: [past(0, 90, 'elsewhere')] };
  expect(earlierOf(aHomeJob(), aRecord({ since: at(100), ...forged }))).toMatchObject({ admissions: [], unknownUntilMs: T + 100_000 });
  expect(
    keptPastOf({ admitted: at(100), ended: at(200), admittedSeconds: 105, pastAdmissions: forged.pastAdmissions, cluster: 'east' }),
  ).toEqual({
    admissions: [span(100, 200)],
    holds: [],
    unknownUntilMs: T + 100_000,
  });
});

test('a Job waits while it is neither admitted nor held, and nobody knows how long where that is not recorded', () => {
  const [from, until] = [T, T + 100_000];
  expect(waitingMs({ admissions: [], holds: [] }, from, until)).toBe(100_000);
  const holds = [{ fromMs: T + 25_000, untilMs: T + 50_000 }];
  expect(waitingMs({ admissions: [span(20, 30), span(90, 200)], holds }, from, until)).toBe(60_000);
  expect(waitingMs({ admissions: [], holds: [], unknownUntilMs: T + 10_000 }, from, until)).toBeUndefined();
});

test('a hold lasts from its act to its release, or to the next admission where nobody released it by an act', () => {
  const acts = [
    { what: 'Hold', user: 'ann', at: at(10) },
    { what: 'Hold', user: 'ann', at: at(12) },
    { what: 'Release', user: 'ann', at: at(20) },
    { what: 'Release', user: 'ann', at: at(25) },
    { what: 'Hold', user: 'ann', at: at(30) },
  ];
  const job = aHomeJob({ metadata: { annotations: { [ACTS_ANNOTATION]: JSON.stringify(acts) } } });
  const { holds = [] } = earlierOf(job, undefined) ?? {};
  expect(holds).toEqual([{ fromMs: T + 10_000, untilMs: T + 20_000 }, { fromMs: T + 30_000 }]);
  const kinds = (admissions: readonly ReturnType<typeof span>[]) =>
    [5, 15, 22, 35, 70].map((seconds) => stateAt({ admissions, holds }, T + seconds * 1000).kind);
  expect(kinds([])).toEqual(['Waiting', 'Held', 'Waiting', 'Held', 'Held']);
  expect(kinds([span(50, 60)])).toEqual(['Waiting', 'Held', 'Waiting', 'Held', 'Waiting']);
});

test('at a thousand random moments of a hundred random lives, what is told is what was, or that it is not known', () => {
  const random = seededRandom(1);
  const below = (most: number): number => Math.floor(random() * most);
  let unknown = 0;
  for (let life = 0; life < 100; life++) {
    const truth: { readonly from: number; readonly until: number; readonly cluster: string }[] = [];
    let record: AdmissionRecord | undefined;
    let now = below(100);
    for (let admissions = 1 + below(12); admissions > 0; admissions--) {
      const cluster = `c${below(3)}`;
      const { evicted: _evicted, ...before } = record ?? aRecord();
      record = { ...before, cluster, since: at(now) };
      const [from, isLast] = [now, admissions === 1 && below(2) === 0];
      now += 1 + below(200);
      truth.push({ from, until: now, cluster });
      // The last one may end with the Job.
      if (!isLast) record = endedRecord(record, T + now * 1000 + below(1000));
      now += 1 + below(200);
    }
    const isOver = record?.evicted === true;
    const endedMs = T + (isOver ? now : (truth.at(-1)?.until ?? 0)) * 1000;
    const line = { endedMs, ...(record === undefined ? {} : { admittedMs: Date.parse(record.since), cluster: record.cluster }) };
    const seconds = truth.reduce((sum, { from, until }) => sum + until - from, 0);
    const pasts = [
      pastOf(line, earlierOf(aHomeJob(), record)),
      keptPastOf({
        ...(record === undefined ? {} : { admitted: record.since, cluster: record.cluster, pastAdmissions: record.pastAdmissions ?? [] }),
        ...(isOver ? { evicted: true } : {}),
        ended: new Date(endedMs).toISOString(),
        admittedSeconds: seconds,
      }),
    ];
    for (let moment = 0; moment < 10; moment++) {
      const second = below(now);
      const was = truth.find(({ from, until }) => from <= second && second < until)?.cluster ?? 'none';
      if (T + second * 1000 >= endedMs) continue;
      for (const past of pasts) {
        const told = stateAt(past, T + second * 1000);
        if (told.kind === 'Unknown') unknown++;
        else expect(told.kind === 'Admitted' ? told.admission.cluster : 'none').toBe(was);
      }
      // All that the record can hold is known.
      if (truth.length <= 8) expect(pasts.map((past) => past.unknownUntilMs)).toEqual([undefined, undefined]);
    }
  }
  expect(unknown).toBeGreaterThan(0);
});

describe('a Job of history', () => {
  const kept = (parts: Partial<KeptAdmissions>): KeptAdmissions => ({ cluster: 'east', admitted: at(10), ended: at(100), ...parts });

  test('ran from its last admission to its end, and in those before', () => {
    expect(keptPastOf(kept({ admittedSeconds: 90 })).admissions).toEqual([span(10, 100)]);
    const again = kept({ admitted: at(50), admittedSeconds: 70, pastAdmissions: [past(10, 30, 'west')] });
    expect(keptPastOf(again)).toEqual({ admissions: [span(10, 30, 'west'), span(50, 100)], holds: [] });
    expect(keptPastOf(kept({ evicted: true, admittedSeconds: 20, pastAdmissions: [past(10, 30)] }))).toEqual({
      admissions: [span(10, 30)],
      holds: [],
    });
    const { admitted: _admitted, ...never } = kept({});
    expect(keptPastOf(never)).toEqual({ admissions: [], holds: [] });
  });

  test('is not known where an earlier version has written less, and says so', () => {
    // Evicted, and deleted while it waited; admitted twice.
    expect(keptPastOf(kept({ admittedSeconds: 20 }))).toEqual({ admissions: [], holds: [], unknownUntilMs: T + 100_000 });
    expect(keptPastOf(kept({ admitted: at(50), admittedSeconds: 70 }))).toEqual({
      admissions: [span(50, 100)],
      holds: [],
      unknownUntilMs: T + 50_000,
    });
  });
});
