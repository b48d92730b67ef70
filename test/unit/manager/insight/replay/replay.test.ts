import { describe, expect, test } from 'vitest';
import type { LogLine } from '../../../../../manager/admission/decision-log/decision-log.ts';
import { historyOf } from '../../../../../manager/insight/replay/logged-history.ts';
import { loggedOutcome } from '../../../../../manager/insight/replay/logged-outcome.ts';
import { replay, type Replayed } from '../../../../../manager/insight/replay/replay.ts';
import { createReplayedAdmission } from '../../../../../manager/insight/replay/replayed-admission.ts';
import { createReplayedSetup } from '../../../../../manager/insight/replay/replayed-setup.ts';
import { createReplayedUsage } from '../../../../../manager/insight/world/replayed-usage.ts';
import { runTimesOf } from '../../../../../manager/insight/replay/logged-run-times.ts';
import { createAdmissionCache } from '../../../../../manager/admission/cache/admission-cache.ts';
import { buildQueueingSetup } from '../../../../../manager/admission/snapshot/snapshot.ts';
import { admits, aLoggedQueue, arrives, at, begun, DAY_MS, ends, SETUP, waits } from './logged-day.ts';
import { aClusterQueue, aWorkload, objects } from '../../admission/setup.ts';

/** Two Jobs of a queue with room for two cpus: `b` waits until `a` has run for 100 seconds. */
const scarce = [
  ...begun(),
  arrives(10, 'a', 2),
  ...admits(10, 'a'),
  arrives(20, 'b', 2),
  ...waits(20, 'b'),
  ends(110, 'a'),
  ...admits(110, 'b'),
  ends(150, 'b'),
  { kind: 'looked', at: at(200), because: 'idle' } as const,
];
const told = ({ admissions }: Replayed) => admissions.map(({ job, atMs }) => [job.slice('team/'.length), (atMs - DAY_MS) / 1000]);

describe('a day decided anew', () => {
  test('is the same under the same setup', () => {
    const history = historyOf(scarce);
    const again = replay(history);
    expect(told(again)).toEqual([
      ['a', 10],
      ['b', 110],
    ]);
    expect(again.cycles).toEqual(loggedOutcome(history).cycles);
    expect(again.stories.map(({ doneMs }) => doneMs)).toEqual([at(110), at(150)]);
    expect(again.guessed).toBe(0);
  });

  test('with more quota nobody waits, and runs for as long as it did', () => {
    const again = replay(historyOf(scarce), { objects: [aLoggedQueue('main', '4')] });
    expect(told(again)).toEqual([
      ['a', 10],
      ['b', 20],
    ]);
    expect(again.stories.map(({ doneMs }) => doneMs)).toEqual([at(110), at(60)]);
  });

  test('with a setup that came later than the log says, what stands instead of it stands from the beginning', () => {
    const bigger: LogLine = { kind: 'object', at: at(50), object: aLoggedQueue('main', '8') };
    const index = scarce.findIndex(({ kind }) => kind === 'end');
    const history = historyOf([
      ...scarce.slice(0, index),
      bigger,
      ...admits(50, 'b'),
      ends(90, 'b'),
      ...scarce.slice(index, index + 1),
      { kind: 'looked', at: at(110), because: 'idle' },
    ]);
    expect(told(replay(history))).toEqual([
      ['a', 10],
      ['b', 50],
    ]);
    expect(told(replay(history, { objects: [aLoggedQueue('main', '2')] }))).toEqual([
      ['a', 10],
      ['b', 110],
    ]);
  });

  test('a Job that never ran in the log runs for as long as others of its queue do, and is counted', () => {
    const history = historyOf([...scarce, arrives(210, 'c', 4), ...waits(210, 'c'), { kind: 'looked', at: at(1000), because: 'idle' }]);
    const again = replay(history, { objects: [aLoggedQueue('main', '4')] });
    expect(told(again).at(-1)).toEqual(['c', 210]);
    expect(again.stories.at(-1)?.doneMs).toBe(at(250));
    expect(again.guessed).toBe(1);
  });

  test('a Job that still ran when the log ended runs on', () => {
    const history = historyOf([...begun(), arrives(10, 'a', 2), ...admits(10, 'a'), arrives(20, 'b', 2), ...waits(20, 'b')]);
    const again = replay(history);
    expect(told(again)).toEqual([['a', 10]]);
    expect(again.stories[0]).not.toHaveProperty('doneMs');
  });

  test('a Job that was deleted while it waited is gone then', () => {
    const lines = [...begun(), arrives(10, 'a', 2), ...admits(10, 'a'), arrives(20, 'b', 2), ...waits(20, 'b'), ends(30, 'b', 'Deleted')];
    const again = replay(historyOf([...lines, ends(110, 'a'), { kind: 'looked', at: at(110), because: 'idle' }]));
    expect(told(again)).toEqual([['a', 10]]);
    expect(again.stories[1]?.leftMs).toBe(at(30));
  });

  test('who held a place when the log began holds it, and frees it when it ended', () => {
    const record = {
      clusterQueue: 'main',
      flavors: { cpu: 'default' },
      cluster: 'eu',
      epoch: 1,
      since: new Date(at(-60)).toISOString(),
      requests: { cpu: '2', pods: '1' },
    };
    const lines = begun([aLoggedQueue('main', '2')], [arrives(0, 'old', 2, { phase: 'Admitted', record })]);
    const history = historyOf([...lines, arrives(5, 'b', 2), ...waits(5, 'b'), ends(40, 'old'), ...admits(40, 'b')]);
    const again = replay(history);
    expect(told(again)).toEqual([['b', 40]]);
    expect(again.cycles).toEqual(loggedOutcome(history).cycles);
  });

  test('what was decided before all was told is taken as it was', () => {
    const [head, ...rest] = begun([aLoggedQueue('main', '2')], [arrives(0, 'a', 2), ...admits(0, 'a'), arrives(0, 'b', 2)]);
    const history = historyOf([...(head === undefined ? [] : [head]), ...rest, ...waits(1, 'b'), ends(30, 'a'), ...admits(30, 'b')]);
    expect(told(replay(history))).toEqual([['b', 30]]);
  });

  test('an admission that could not be written is undone, and made again when the log says so', () => {
    const undone: LogLine = { kind: 'end', at: at(11), job: 'team/a', how: 'Undone' };
    const history = historyOf([
      ...begun(),
      arrives(10, 'a', 2),
      ...admits(10, 'a'),
      undone,
      { kind: 'looked', at: at(11), because: 'idle' },
      arrives(16, 'a', 2, { created: at(10), arrival: 1 }),
      ...admits(16, 'a'),
      ends(50, 'a'),
    ]);
    const again = replay(history);
    expect(told(again)).toEqual([
      ['a', 10],
      ['a', 16],
    ]);
    expect(again.stories[0]?.doneMs).toBe(at(50));
  });
});

describe('sections of a log', () => {
  test('after a gap whoever is not told any more has ended some time in between, and nobody knows when', () => {
    const [head] = begun();
    const gap = { ...head, at: at(300), because: 'gap', dropped: 12 } as LogLine;
    const told = [gap, ...begun().slice(1, -1), arrives(300, 'b', 2), { kind: 'whole', at: at(300) } as const];
    const history = historyOf([...begun(), arrives(10, 'a', 2), ...admits(10, 'a'), ...told]);
    expect(history).toMatchObject({ dropped: 12, breaks: 1 });
    expect(history.lives.map(({ key, placements }) => [key, placements.at(-1)?.end?.how])).toEqual([
      ['team/a', 'Unknown'],
      ['team/b', undefined],
    ]);
  });

  test('a rotation tells all anew, and changes nothing', () => {
    const cut = scarce.findIndex(({ kind }) => kind === 'end');
    const [head] = begun();
    const again = { ...head, at: at(60), because: 'rotation' } as LogLine;
    const record = { clusterQueue: 'main', flavors: { cpu: 'default' }, cluster: 'eu', epoch: 1, since: '', requests: {} };
    const section = [
      again,
      ...begun().slice(1, -1),
      arrives(10, 'a', 2, { phase: 'Admitted', record }),
      arrives(20, 'b', 2),
      { kind: 'whole', at: at(60) } as const,
    ];
    const history = historyOf([...scarce.slice(0, cut), ...section, ...scarce.slice(cut)]);
    expect(history.breaks).toBe(0);
    expect(history.lives.length).toBe(2);
    expect(replay(history).cycles).toEqual(loggedOutcome(historyOf(scarce)).cycles);
  });
});

test('run times are those of the last admission that ended by itself, and the median of the queue for others', () => {
  const { lives } = historyOf([...scarce, arrives(210, 'c', 4)]);
  const { of, stopping } = runTimesOf({ lives });
  expect(lives.map((life) => of(life))).toEqual([
    { ms: 100_000, isGuess: false },
    { ms: 40_000, isGuess: false },
    { ms: 40_000, isGuess: true },
  ]);
  expect(stopping).toEqual({ evictingMs: 0, waitsMs: 0 });
});

test('a replayed setup says what has changed, and nothing of what others stand in the place of', () => {
  const setup = createReplayedSetup([aLoggedQueue('main', '4')]);
  for (const object of [...SETUP, aLoggedQueue('main', '2'), aLoggedQueue('other', '2')]) setup.set(object);
  expect(setup.takeChanges()).toMatchObject({ queueing: true, clusters: true, priorities: false });
  expect(setup.objects().clusterQueues.map(({ metadata }) => metadata.name)).toEqual(['main', 'other']);
  expect(setup.clusters().map(({ name, closed }) => [name, closed])).toEqual([['eu', undefined]]);
  setup.gone('ClusterQueue main');
  setup.gone('ClusterQueue other');
  expect([...setup.takeChanges().objects.clusterQueues]).toEqual(['other']);
  expect(setup.objects().clusterQueues.length).toBe(1);
  expect(setup.takeChanges()).toMatchObject({ queueing: false, clusters: false, priorities: false });
});

test('replayed admission gives a place back and to the next', () => {
  const setup = createReplayedSetup([...SETUP, aLoggedQueue('main', '1')]);
  const admission = createReplayedAdmission({ setup, settings: {}, now: () => DAY_MS, at: () => undefined });
  admission.waits(aWorkload('a'), 0);
  admission.waits(aWorkload('b'), 1);
  expect(admission.beginPass()).toEqual([]);
  const decided = () => admission.cycle(DAY_MS, 1).decisions.map(({ kind, head }) => [kind, head.queued.workload.name]);
  expect(decided()).toEqual([['Admit', 'a']]);
  expect(decided()).toEqual([['Inadmissible', 'b']]);
  expect(admission.reservation('team/a')?.record.cluster).toBe('eu');
  admission.leaves('team/a');
  expect(decided()).toEqual([['Admit', 'b']]);
  expect(admission.clusterQueueOf({ namespace: 'team', queue: 'main' })).toBe('main');
});

test('with usage that orders LocalQueues, whoever has held more comes after', () => {
  let nowMs = 0;
  const local = (name: string) => ({
    metadata: { name, namespace: 'team', uid: name, resourceVersion: '1', creationTimestamp: '' },
    spec: { clusterQueue: 'main' },
  });
  const queue = aClusterQueue('main', { default: '4' }, { admissionScope: { admissionMode: 'UsageBasedAdmissionFairSharing' } });
  const queueing = buildQueueingSetup(objects({ clusterQueues: [queue], localQueues: [local('busy'), local('idle')] }));
  const policy = { halfLifeMs: 60_000, samplingIntervalMs: 1_000, resourceWeights: new Map() };
  const usage = createReplayedUsage({ policy, cache: () => cache, changed: () => undefined, now: () => nowMs });
  const cache = createAdmissionCache(queueing, undefined, usage.holdings);
  const record = {
    clusterQueue: 'main',
    flavors: { cpu: 'default' },
    cluster: 'eu',
    epoch: 1,
    since: new Date(0).toISOString(),
    requests: { cpu: '1' },
  };
  cache.assume(aWorkload('a', { cpu: '1' }, { queue: 'busy' }), record);
  nowMs = 60_000;
  usage.sample(nowMs);
  expect(usage.usageOf('team/busy')).toBeGreaterThan(usage.usageOf('team/idle') ?? 1);
  expect(usage.usageOf('team/none')).toBeUndefined();
});

describe('a queue that blocks admission', () => {
  const phase = (seconds: number, name: string, starting?: true): LogLine => ({
    kind: 'phase',
    at: at(seconds),
    job: `team/${name}`,
    phase: 'Admitted',
    ...(starting === undefined ? {} : { starting }),
  });
  const idle = (seconds: number): LogLine => ({ kind: 'looked', at: at(seconds), because: 'idle', first: true });
  const blocking = aLoggedQueue('main', '4', { blockAdmission: true });
  const lines = [
    arrives(10, 'a', 2),
    ...admits(10, 'a'),
    phase(11, 'a', true),
    arrives(20, 'b', 2),
    idle(20),
    phase(50, 'a'),
    ...admits(50, 'b'),
    phase(51, 'b', true),
    phase(60, 'b'),
    ends(110, 'a'),
    ends(150, 'b'),
  ];

  test('admits the next Job when the pods of the one before were ready, as on its day', () => {
    expect(told(replay(historyOf([...begun([blocking]), ...lines])))).toEqual([
      ['a', 10],
      ['b', 50],
    ]);
  });

  test('without that nothing waits, and with that pods count as ready at once where the log does not say when they were', () => {
    expect(told(replay(historyOf([...begun([blocking]), ...lines]), { objects: [aLoggedQueue('main', '4')] }))).toEqual([
      ['a', 10],
      ['b', 20],
    ]);
    const silent = lines.filter(({ kind }) => kind !== 'phase');
    expect(told(replay(historyOf([...begun([aLoggedQueue('main', '4')]), ...silent]), { objects: [blocking] }))).toEqual([
      ['a', 10],
      ['b', 20],
    ]);
  });
});

test('with usage that orders LocalQueues, who holds more and more goes after who came later', () => {
  const queue = aLoggedQueue('main', '6', { admissionScope: { admissionMode: 'UsageBasedAdmissionFairSharing' } });
  const locals = ['busy', 'idle'].map(
    (name): LogLine => ({
      kind: 'object',
      at: at(0),
      object: { kind: 'LocalQueue', metadata: { name, namespace: 'team' }, spec: { clusterQueue: 'main' } },
    }),
  );
  const day = (settings: Extract<LogLine, { kind: 'log' }>['settings']): LogLine[] => {
    const [head, ...rest] = begun([queue]);
    return [
      ...(head?.kind === 'log' ? [{ ...head, settings }] : []),
      ...rest.slice(0, -1),
      ...locals,
      ...rest.slice(-1),
      arrives(10, 'e', 2),
      ...admits(10, 'e'),
      arrives(90, 'a', 2, { queue: 'busy' }),
      ...admits(90, 'a'),
      arrives(92, 'd', 2, { queue: 'idle' }),
      ...admits(92, 'd'),
      ends(93, 'd'),
      // Until now `idle` has held more, and the other one first. Nothing but time changes that.
      arrives(94, 'b', 4, { queue: 'busy' }),
      arrives(95, 'c', 4, { queue: 'idle' }),
      ...waits(95, 'b'),
      ends(150, 'e'),
      ...admits(150, 'b'),
      ends(160, 'b'),
      ...admits(160, 'c'),
      ends(170, 'c'),
      ends(190, 'a'),
      { kind: 'looked', at: at(200), because: 'idle' },
    ];
  };
  const policy = { halfLifeMs: 600_000, samplingIntervalMs: 10_000, resourceWeights: {} };
  const order = (settings: Parameters<typeof day>[0]) => told(replay(historyOf(day(settings)))).map(([job]) => job);
  expect(order({})).toEqual(['e', 'a', 'd', 'b', 'c']);
  expect(order({ admissionFairSharing: policy })).toEqual(['e', 'a', 'd', 'c', 'b']);
});
