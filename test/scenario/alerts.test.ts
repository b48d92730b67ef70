/**
 * Goal: each alert is heard when what it is for happens, says so with the numbers, and is silent in the healthy world next to it. Played by
 * promtool with SWITCHYARD_SLOW=1, as part of npm run test:operations.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { ALERTS } from '../../shared/monitoring/alerts.ts';
import { ruleFile } from '../../shared/monitoring/alert.ts';
import { playHearings, playSituations, promtoolProblem, type Situation } from '../support/promtool.ts';
import { COURSES, FIRES_AT, OVER_AT } from './alert-courses.ts';
import { CLUSTER_SITUATIONS } from './alerts-of-clusters.ts';
import { INTAKE_SITUATIONS } from './alerts-of-intake.ts';
import { PROGRAM_SITUATIONS } from './alerts-of-programs.ts';
import { QUEUE_SITUATIONS } from './alerts-of-queues.ts';
import { QUIET_SITUATIONS } from './alerts-in-quiet.ts';
import { isSlow } from '../support/slow.ts';

const GROUPS = ruleFile(ALERTS, { manager: '(.+/)?switchyard-manager', worker: '(.+/)?switchyard-worker' }).groups;
const SITUATIONS: readonly Situation[] = [
  ...CLUSTER_SITUATIONS,
  ...QUEUE_SITUATIONS,
  ...INTAKE_SITUATIONS,
  ...PROGRAM_SITUATIONS,
  ...QUIET_SITUATIONS,
];
const courseName = ({ alert, edge }: (typeof COURSES)[number]): string => `${alert}: ${edge}`;
const problem = isSlow ? promtoolProblem() : 'it takes half a minute: SWITCHYARD_SLOW=1';
/** Fifteen seconds of processor time, which a busy machine has to give first. */
const LIMIT_MS = 600_000;

test('every alert is heard in some situation, and situations have names of their own', () => {
  const heard = new Set(SITUATIONS.flatMap(({ fires }) => fires.map(({ alert }) => alert)));
  expect(ALERTS.map(({ name }) => name).filter((name) => !heard.has(name))).toEqual([]);
  expect(new Set(SITUATIONS.map(({ name }) => name)).size).toBe(SITUATIONS.length);
});

test('of every alert it is played how it comes and goes', () => {
  const played = new Set(COURSES.map(({ alert }) => alert));
  expect(ALERTS.map(({ name }) => name).filter((name) => !played.has(name))).toEqual([]);
});

describe.skipIf(problem !== undefined)(`alerts${problem === undefined ? '' : ` (skipped: ${problem})`}`, () => {
  let wrong: ReadonlyMap<string, string>;
  beforeAll(() => {
    const hearings = COURSES.map((course) => ({
      ...course,
      name: courseName(course),
      heardAt: [FIRES_AT],
      silentAt: [course.edgeAt, OVER_AT],
    }));
    wrong = new Map([...playSituations(GROUPS, SITUATIONS), ...playHearings(GROUPS, hearings)]);
  }, LIMIT_MS);

  test.each(COURSES.map(courseName))('%s is just within bounds and not heard; beyond them it is, and no longer when it is over', (name) => {
    expect(wrong.get(name) ?? 'as it should be').toBe('as it should be');
  });

  test.each(SITUATIONS.map(({ name, fires }) => [name, fires.map(({ alert }) => alert).join(', ') || 'nothing']))(
    '%s: %s fires',
    (name) => {
      expect(wrong.get(name) ?? 'as it should be').toBe('as it should be');
    },
  );
});
