/**
 * Goal: model and code do not drift apart. Method: what the stores of simulated clusters show of each Job
 * (test/simulation/dispatch/protocol-trace.ts) has to be what some run of the model shows; Spin looks for that run (`npm run model`).
 * Courses that no run may take have to be refused.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTraceRecorder } from '../simulation/dispatch/protocol-trace.ts';
import { JOB_UID_VARIABLE } from '../../shared/api/names.ts';
import { isSlow } from '../support/slow.ts';
import type { DefectName } from '../simulation/dispatch/defects.ts';
import { compileReplay, lacksSpin, replayedIn, type Replayer } from './spin.ts';

/** `npm run model` replays a thousand. */
const STORIES = Number(process.env['SWITCHYARD_REPLAYED_STORIES'] ?? (process.env['SWITCHYARD_WHOLE_MODEL'] === '1' ? 1000 : 200));
/** Defects of the simulation that change what stores show. The others keep a Job waiting, or are of what the model does not speak of. */
const REFUSED_DEFECTS: readonly DefectName[] = [
  'taken-name-is-a-no',
  'gone-copy-is-the-end',
  'moves-before-pods-are-gone',
  'lost-answer-is-a-no',
  'no-doubt-after-a-restart',
];
const DEFECT_STORIES = 100;
const STORY_MS = 60_000;
const COMPILE_MS = 600_000;

/** Of a state of a trace, in its order. */
const FIELDS =
  'epoch place told suspended done there0 epoch0 suspended0 says0 ended0 runs0 there1 epoch1 suspended1 says1 ended1 runs1 mayDie mayCut0 mayRestart0 mayCut1 mayRestart1 mayEdit0 mayRemove0 mayEdit1 mayRemove1'.split(
    ' ',
  );
type Change = Readonly<Record<string, number>>;
const [DISPATCHED, AT_REST, FENCED_OFF] = [1, 3, 4];

/** A Job that is stopped, and moves. */
const MOVES = {
  recorded: { epoch: 1, suspended: 0 },
  created: { there0: 1, epoch0: 1 },
  dispatched: { told: DISPATCHED },
  begun: { runs0: 1 },
  stopped: { suspended: 1 },
  suspended: { suspended0: 1 },
  podsEnded: { runs0: 0 },
  seen: { says0: 1 },
  proven: { told: AT_REST },
  recordedElsewhere: { epoch: 2, place: 1, told: 0, suspended: 0 },
  deleted: { there0: 0, epoch0: 0, suspended0: 0, says0: 0 },
  createdElsewhere: { there1: 1, epoch1: 2 },
  begunElsewhere: { runs1: 1 },
  endedThere: { runs1: 0, ended1: 1 },
  ended: { done: 1 },
} satisfies Readonly<Record<string, Change>>;
type Step = keyof typeof MOVES;
const STEPS = Object.keys(MOVES) as Step[];

function statesOf(changes: readonly Change[]): number[][] {
  let now: Change = { suspended: 1 };
  return [now, ...changes.map((change) => (now = { ...now, ...change }))].map((state) => FIELDS.map((field) => state[field] ?? 0));
}
const courseOf = (steps: readonly Step[]): number[][] => statesOf(steps.map((step) => MOVES[step]));
/** With one step before another one instead of in its place. */
const earlier = (step: Step, before: Step): Step[] =>
  STEPS.filter((each) => each !== step).flatMap((each) => (each === before ? [step, each] : [each]));

describe('what is written down of a story', () => {
  const template = (uid: string) => ({ spec: { containers: [{ name: 'main', env: [{ name: JOB_UID_VARIABLE, value: uid }] }] } });
  const record = (epoch: number, cluster: string): Record<string, string> => ({
    'switchyard.dev/admission': JSON.stringify({ epoch, cluster, since: 'now' }),
  });
  const condition = (type: string, reason = '', message = '') => ({
    type,
    status: reason === 'AtRest' ? 'False' : 'True',
    reason,
    message,
  });

  test('is each state that the stores show, in the order of the writes, until the Job has ended', () => {
    const recorder = createTraceRecorder();
    const stored = (cluster: string, table: string, name: string, object?: object): void =>
      recorder.stored(cluster, {
        table,
        namespace: 'blue',
        name,
        revision: 1,
        text: object === undefined ? undefined : JSON.stringify(object),
      });
    const atHome = (annotations: object, suspend: boolean, ...conditions: object[]): void =>
      stored('home', 'batch/jobs', 'sum', { metadata: { uid: 'u', annotations }, spec: { suspend }, status: { conditions } });
    const copy = (suspend: boolean, ...conditions: object[]): void =>
      stored('east', 'batch/jobs', 'sum', {
        metadata: { uid: 'c', annotations: { 'switchyard.dev/dispatch-epoch': '1' } },
        spec: { suspend, template: template('u') },
        status: { conditions },
      });
    const dispatched = condition('Dispatched', 'Dispatched', 'dispatched to cluster "east" (placement 1)');
    atHome({}, true);
    atHome(record(1, 'east'), false);
    copy(false);
    atHome(record(1, 'east'), false, dispatched);
    stored('east', '/pods', 'sum-1', {
      metadata: { uid: 'p', ownerReferences: [{ uid: 'c', controller: true }] },
      status: { phase: 'Running' },
    });
    atHome(record(1, 'east'), true, dispatched);
    copy(true);
    stored('east', '/pods', 'sum-1');
    copy(true, condition('Suspended'));
    atHome(record(1, 'east'), true, condition('Dispatched', 'AtRest', 'nothing of it runs on cluster "east" (placement 1, admitted now)'));
    expect(recorder.traces()).toEqual([{ job: 'u', states: courseOf(STEPS.slice(0, STEPS.indexOf('recordedElsewhere'))) }]);
  });
});

test('only the assertion of its witness says that a trace is one of the model', () => {
  const said = (assertion: string): string =>
    `position 3\npan:1: assertion violated ${assertion} (at depth 31)\nerrors: 1\n 12 states, stored`;
  expect(replayedIn(said('0'))).toEqual({ isAccepted: true, position: 3, states: 12 });
  expect(replayedIn('position 2\nerrors: 0\n 12 states, stored')).toEqual({ isAccepted: false, position: 2, states: 12 });
  expect(() => replayedIn(said('(0<=1)'))).toThrow(/breaks its own promise/);
});

const lacking = isSlow ? lacksSpin() : 'only npm run model and npm run test:operations search the model';

describe.skipIf(lacking !== undefined)('a trace', () => {
  let replayer: Replayer;
  beforeAll(() => {
    replayer = compileReplay();
  }, COMPILE_MS);
  afterAll(() => replayer.remove());

  test('of a Job that is stopped and moves is one of the model', () => {
    expect(replayer.replay([courseOf(STEPS)])).toMatchObject([{ isAccepted: true, position: STEPS.length }]);
  });

  test.each<[string, readonly Step[], Step]>([
    ['a Job is recorded elsewhere before anything is proven', earlier('recordedElsewhere', 'proven'), 'recordedElsewhere'],
    ['a Job says that it rests while its pods run', earlier('proven', 'podsEnded'), 'proven'],
    ['a copy says that it is suspended before it is', earlier('seen', 'suspended'), 'seen'],
    ['a copy is made beside that of another placement', earlier('createdElsewhere', 'deleted'), 'createdElsewhere'],
    ['pods begin before there is a copy', earlier('begunElsewhere', 'createdElsewhere'), 'begunElsewhere'],
    ['a Job ends before its copy has', earlier('ended', 'endedThere'), 'ended'],
  ])('is refused: %s', (_, steps, refused) => {
    expect(replayer.replay([courseOf(steps)])).toMatchObject([{ isAccepted: false, position: steps.indexOf(refused) }]);
  });

  test.each([
    [true, { mayCut0: 1 }],
    [false, {}],
  ])('in which a Job counts as fenced off is one (%j) where its cluster was cut off', (isAccepted, fault) => {
    const { recorded, created, dispatched, begun, stopped, podsEnded } = MOVES;
    const changes = [recorded, created, dispatched, begun, fault, stopped, podsEnded, { told: FENCED_OFF }];
    expect(replayer.replay([statesOf(changes)])).toMatchObject([{ isAccepted }]);
  });

  test(
    `of ${STORIES} stories is one of the model`,
    async () => {
      const shares = availableParallelism();
      const from = (share: number): number => 1 + Math.floor((share * STORIES) / shares);
      const played = await Promise.all(
        Array.from({ length: shares }, (_, at) => playProtocol('--from', String(from(at)), '--seeds', String(from(at + 1) - from(at)))),
      );
      for (const { said, code } of played) expect(code, said).toBe(0);
      const sum = (figure: string): number =>
        played.reduce((total, { said }) => total + Number(new RegExp(`^${figure} +(\\d+)$`, 'm').exec(said)?.[1]), 0);
      console.log(`${sum('jobs')} Jobs, ${sum('courses')} different courses, ${sum('states of the model')} states of the model`);
      expect(sum('courses')).toBeGreaterThan(STORIES / 2);
    },
    STORIES * STORY_MS,
  );

  test.each(REFUSED_DEFECTS)(
    'is refused where the programs have a defect: %s',
    async (defect) => {
      const { said, code } = await playProtocol('--put-back', defect, '--seeds', String(DEFECT_STORIES));
      expect([code, said]).toEqual([0, expect.stringContaining('no step of the model leads on')]);
      // By the defect, and by nothing else in its story.
      const seed = /found by seed (\d+)/.exec(said)?.[1] ?? '';
      expect(await playProtocol('--bias', defect, '--seed', seed)).toMatchObject({ code: 0 });
      console.log(said.split('\n').slice(0, 2).join('\n'));
    },
    DEFECT_STORIES * STORY_MS,
  );
});

/** In a process of its own: the defect is in programs that are loaded after it was put back, and two cores play two stories at a time. */
function playProtocol(...words: readonly string[]): Promise<{ readonly said: string; readonly code: number | null }> {
  const main = path.join(import.meta.dirname, '../simulation/main.ts');
  // What a story throws away is short-lived.
  const child = spawn(process.execPath, ['--max-semi-space-size=64', main, '--world', 'protocol', ...words]);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  return new Promise((resolve, reject) => child.once('error', reject).once('close', (code) => resolve({ said, code })));
}
