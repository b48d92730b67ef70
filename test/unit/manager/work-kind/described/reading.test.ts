import { describe, expect, test } from 'vitest';
import { describedCache, isCompact } from '../../../../../manager/work-kind/described/described-cache.ts';
import { condition, kindsOwn, verdict } from '../../../../../manager/work-kind/described/described-conditions.ts';
import { describedCopies } from '../../../../../manager/work-kind/described/described-copies.ts';
import { describedHome } from '../../../../../manager/work-kind/described/described-home.ts';
import { templateProblem } from '../../../../../manager/work-kind/described/pod-shape.ts';
import { readState } from '../../../../../manager/work-kind/described/read-state.ts';
import { readObject, variablesOf } from '../../../../../manager/work-kind/described/reading.ts';
import { Readings } from '../../../../../manager/work-kind/described/readings.ts';
import { visibleObject, visibleTemplate } from '../../../../../manager/work-kind/described/visible-object.ts';
import { CostBudget } from '../../../../../shared/cel/cost-budget.ts';
import { aCrew, compiled, CREW_SPEC } from './described.ts';

const description = compiled(CREW_SPEC);
const sailing = { phase: 'Sailing', conditions: [] };

describe('what is read of an object', () => {
  test('has where its pod templates stand', () => {
    expect(readObject(description, aCrew()).podSets.map(({ field, countPath }) => [field, countPath])).toEqual([
      ['spec.captain', undefined],
      ['spec.groups[0].pod', ['spec', 'groups', 0, 'hands']],
      ['spec.groups[1].pod', ['spec', 'groups', 1, 'hands']],
    ]);
  });

  test('is read once, and goes on with a status that is made of its own', () => {
    const readings = new Readings(description);
    const crew = aCrew({ status: sailing });
    expect(readings.of(crew)).toBe(readings.of(crew));
    expect(readings.stateOf({ status: sailing })).toBe(readings.of(crew).state);
    const made = readings.keepState({ ...sailing }, readings.of(crew).state);
    expect(readings.stateOf({ status: made }).pods).toBe(6);
    expect(readings.stateOf({ status: { ...sailing } }).pods).toBe(0);
  });

  test('is the same whatever an expression could not see anyway', () => {
    const long = { ...aCrew(), spec: { ...aCrew().spec, script: 'x'.repeat(2000) } };
    const seen = visibleObject(long, readObject(description, long).templates);
    expect(seen.spec).not.toHaveProperty('script');
    expect(visibleObject(seen, readObject(description, seen).templates)).toEqual(seen);
  });

  test('a state whose expression fails is not reached, and says why', () => {
    const broken = compiled({ ...CREW_SPEC, state: { ...CREW_SPEC.state, complete: 'status.phase == "x"' } });
    const state = readState(broken, aCrew(), [], variablesOf(aCrew()), new CostBudget(1000));
    expect([state.end, state.problems.map(({ field }) => field)]).toEqual([undefined, ['spec.state.complete']]);
  });

  test('a reason that no condition may have is that of the end itself', () => {
    const crew = aCrew({ status: { conditions: [{ type: 'Sunk', status: 'True', reason: 'no reason!', message: 'm' }] } });
    expect(readObject(description, crew).state.end).toEqual({ type: 'Failed', reason: 'Failed', message: 'm' });
  });

  test('conditions are seen by type, and those that are true as a list; whatever else stands there is not', () => {
    const status = { conditions: [{ type: 'A', status: 'True' }, { type: 'B', status: 'False' }, null, 'text'] } as never;
    expect(variablesOf(aCrew({ status }))['trueConditions']).toEqual(['A']);
    expect(Object.keys(variablesOf(aCrew({ status }))['conditions'] as object)).toEqual(['A', 'B']);
  });

  test('resources stand for a pod template where a kind has none', () => {
    const { podSets: _all, ...rest } = CREW_SPEC;
    const bare = compiled({ ...rest, podSets: [{ name: 'node', count: 'spec.nodes', resources: 'spec.each' }] });
    const [podSet] = readObject(bare, aCrew({ spec: { nodes: 4, each: { requests: { cpu: '2' } } } })).podSets;
    expect(podSet).toMatchObject({
      name: 'node',
      count: 4,
      template: { spec: { containers: [{ resources: { requests: { cpu: '2' } } }] } },
    });
    expect(readObject(bare, aCrew({ spec: { nodes: 4, each: { requests: 'lots' } } })).problems).toEqual([
      { field: 'spec.each', problem: 'is of a wrong type; write requests and limits' },
    ]);
  });

  test('a template that an operator adds itself is counted, and is not there to be written', () => {
    const template = { spec: { containers: [{ name: 'extra', resources: { requests: { cpu: '1' } } }] } };
    const more = compiled({
      ...CREW_SPEC,
      podSets: [{ name: 'extra', template: 'spec.extra', defaultTemplate: template, when: '!has(spec.alone)' }],
    });
    expect(readObject(more, aCrew())).toMatchObject({ podSets: [{ name: 'extra', template }], templates: [] });
    expect(readObject(more, aCrew({ spec: { alone: true } })).podSets).toEqual([]);
  });

  test('a path of a template that leads out of the spec is refused', () => {
    const astray = compiled({ ...CREW_SPEC, podSets: [{ items: 'spec.groups', templatePath: "'metadata.annotations'" }] });
    expect(readObject(astray, aCrew()).problems[0]?.problem).toContain('which is no path of a pod template in the spec');
  });
});

test('a pod template is what the manager can read as one', () => {
  expect(templateProblem({ spec: { containers: [{ name: 'a', env: null }] } })).toBeUndefined();
  expect(templateProblem({ spec: null })).toContain('must be');
  expect(templateProblem({})).toContain('must be');
  expect(
    templateProblem({ spec: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: 1 } } } } }),
  ).toBe('spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms must be a list');
  expect(visibleTemplate({ spec: { containers: 'x' } })).toEqual({});
});

test('the end of a kind has the time of its own condition, where it has one of that type', () => {
  const state = { ...readObject(description, aCrew()).state, end: { type: 'Failed', reason: 'Sunk', message: 'm' } as const };
  const own = { type: 'Failed', status: 'True', reason: 'Own', lastTransitionTime: '2026-01-01T00:00:00Z' } as const;
  expect(verdict(state, [own], 0)).toEqual([own]);
  expect(verdict(state, [], 0)).toEqual([condition('Failed', 'True', 'Sunk', 'm', 0)]);
  expect(kindsOwn([own, { type: 'Rigged', status: 'True' }])).toEqual([{ type: 'Rigged', status: 'True' }]);
});

test('the parts of a kind share what was read', () => {
  const readings = new Readings(description);
  const compact = describedCache(description, readings).compact(aCrew({ status: sailing }));
  expect(isCompact(compact)).toBe(true);
  expect(describedCopies(description, readings).isUnbegun(compact)).toBe(false);
  expect(describedHome(description, readings).hasVerdict(compact)).toBe(false);
});
