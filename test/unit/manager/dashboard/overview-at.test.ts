import { expect, test } from 'vitest';
import { createMoment, type PastJob } from '../../../../manager/dashboard/overview-at.ts';

type Times = { readonly createdMs: number; readonly admittedMs?: number; readonly endedMs?: number };
const job = (key: string, times: Times, where: Partial<PastJob['line']> = {}): PastJob => ({
  ...times,
  past: {
    admissions:
      times.admittedMs === undefined
        ? []
        : [
            {
              fromMs: times.admittedMs,
              ...(times.endedMs === undefined ? {} : { untilMs: times.endedMs }),
              ...(where.cluster === undefined ? {} : { cluster: where.cluster }),
            },
          ],
    holds: [],
  },
  line: {
    key,
    uid: key,
    state: 'Complete',
    createdMs: times.createdMs,
    completions: 3,
    active: 0,
    succeeded: 3,
    failed: 0,
    queue: 'main',
    ...where,
  },
});

test('Jobs stand where their times put them then, whatever became of them since', () => {
  const moment = createMoment(100, (queue) => (queue === 'b/main' ? 'shared' : undefined));
  const east = { cluster: 'east' };
  for (const each of [
    job('a/waited', { createdMs: 50, admittedMs: 120, endedMs: 130 }, east),
    job('b/waits-still', { createdMs: 60 }),
    job('b/waited-longer', { createdMs: 40, endedMs: 101 }),
    job('a/ran', { createdMs: 10, admittedMs: 100, endedMs: 101 }, east),
    job('b/ran-longer', { createdMs: 10, admittedMs: 20 }, east),
    job('a/of-nowhere', { createdMs: 10, admittedMs: 20, endedMs: 200 }),
    job('a/was-over', { createdMs: 10, admittedMs: 20, endedMs: 100 }, east),
    job('a/was-not-there', { createdMs: 101 }),
  ])
    moment.add(each);
  const { waiting, running } = moment.snapshot();
  expect(waiting.map(({ name, isLocal, count, first }) => [name, isLocal, count, first.map(({ key }) => key)])).toEqual([
    ['a/main', true, 1, ['a/waited']],
    ['shared', false, 2, ['b/waited-longer', 'b/waits-still']],
  ]);
  expect(running.map(({ name, count, first }) => [name, count, first.map(({ key }) => key)])).toEqual([
    ['', 1, ['a/of-nowhere']],
    ['east', 2, ['b/ran-longer', 'a/ran']],
  ]);
  expect(running[1]?.first[1]).toMatchObject({ state: 'Running', completions: 1, succeeded: 0 });
  expect(running[1]?.first[1]).not.toHaveProperty('endedMs');
});

test('of very many the first are named and all are counted', () => {
  const moment = createMoment(100, () => 'shared');
  for (let number = 0; number < 500; number++) moment.add(job(`a/${number}`, { createdMs: 99 - (number % 90) }));
  const [queue] = moment.snapshot().waiting;
  expect([queue?.count, queue?.first.length, queue?.first[0]?.createdMs]).toEqual([500, 24, 10]);
  const came = Array.from({ length: 500 }, (_, number) => [99 - (number % 90), `a/${number}`] as const);
  const firsts = came.toSorted(([a, x], [b, y]) => a - b || (x < y ? -1 : 1)).slice(0, 24);
  expect(queue?.first.map(({ key }) => key)).toEqual(firsts.map(([, key]) => key));
});

test('a Job that was evicted waits or is held then, and ran where it was admitted; one without a record of that is named apart', () => {
  const [first, second] = [
    { fromMs: 20, untilMs: 40, cluster: 'east' },
    { fromMs: 60, cluster: 'west' },
  ];
  const moved: PastJob = {
    ...job('a/moved', { createdMs: 10 }),
    past: { admissions: [first, second], holds: [{ fromMs: 39, untilMs: 50 }] },
  };
  const lost: PastJob = { ...job('a/lost', { createdMs: 10 }), past: { admissions: [second], holds: [], unknownUntilMs: 60 } };
  const at = (atMs: number) => {
    const moment = createMoment(atMs, () => 'shared');
    for (const each of [moved, lost]) moment.add(each);
    const { waiting, running, unknown } = moment.snapshot();
    return {
      waiting: waiting.flatMap(({ first: jobs }) => jobs.map(({ key, state }) => `${key} ${state}`)),
      running: running.flatMap(({ name, first: jobs }) => jobs.map(({ key }) => `${key} ${name}`)),
      unknown: unknown?.first,
    };
  };
  expect([15, 30, 45, 55, 70].map(at)).toEqual([
    { waiting: ['a/moved Waiting'], running: [], unknown: ['a/lost'] },
    { waiting: [], running: ['a/moved east'], unknown: ['a/lost'] },
    { waiting: ['a/moved Held'], running: [], unknown: ['a/lost'] },
    { waiting: ['a/moved Waiting'], running: [], unknown: ['a/lost'] },
    { waiting: [], running: ['a/lost west', 'a/moved west'], unknown: undefined },
  ]);
});
