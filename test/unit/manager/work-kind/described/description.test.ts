import { describe, expect, test } from 'vitest';
import type { WorkKindSpec } from '../../../../../manager/api/work-kind.ts';
import { DEFAULT_JOB_RULES } from '../../../../../manager/api/job-rules.ts';
import { compileDescription } from '../../../../../manager/work-kind/described/description.ts';
import { describedKind } from '../../../../../manager/work-kind/described/described-kind.ts';
import {
  boolean,
  count,
  evaluated,
  ExpressionProblem,
  OBJECT_ENVIRONMENT,
  string,
} from '../../../../../manager/work-kind/described/expression.ts';
import type { WorkObject } from '../../../../../shared/api/kubernetes.ts';
import { CostBudget } from '../../../../../shared/cel/cost-budget.ts';
import { aCrew, compiled, CREW_SPEC } from './described.ts';

const problemsOf = (changes: Partial<WorkKindSpec>): string[] => {
  const result = compileDescription({ ...CREW_SPEC, ...changes });
  return result.kind === 'Refused' ? result.problems.map(({ field, problem }) => `${field}: ${problem}`) : [];
};

describe('a description that cannot be read', () => {
  test('names the field, the place in the expression, and what may be meant', () => {
    expect(problemsOf({ ttlSeconds: 'spec.ttl + obj.x' })).toEqual([
      'spec.ttlSeconds: undeclared reference to \'obj\', at character 12 of "spec.ttl + obj.x"; the variables here are object, spec, status, conditions, trueConditions'.replace(
        'spec.ttlSeconds: ',
        'spec.ttlSeconds: does not compile: ',
      ),
    ]);
  });

  test('names every problem, not the first alone', () => {
    const [podSet] = CREW_SPEC.podSets;
    const found = problemsOf({
      podSets: [{ ...podSet, name: 'captain', template: 'spec..captain', count: '1 +' }],
      state: { ...CREW_SPEC.state, started: "'yes'" },
    });
    expect(found).toHaveLength(3);
    expect(found[0]).toContain('spec.podSets[0].count: does not compile: ');
    expect(found[1]).toBe(
      'spec.podSets[0].template: is "spec..captain", which is no path of a field; write names with dots, such as spec.suspend',
    );
    expect(found[2]).toBe('spec.state.started: gives string, and must give a bool: "\'yes\'"');
  });

  test('says the line where an expression has several', () => {
    expect(problemsOf({ ttlSeconds: '1 +\n  nothing' })[0]).toContain('at line 2, character 3 of "nothing"');
  });

  test('has a least number of pods only with the field of the spec that fewer are written to', () => {
    const [captain, groups] = CREW_SPEC.podSets;
    const { countPath: _none, ...unwritable } = { ...groups, countPath: 'hands' };
    expect(problemsOf({ podSets: [{ ...captain, minCount: '1', countPath: 'status.hands' }, unwritable] })).toEqual([
      'spec.podSets[0].countPath: is "status.hands", and nothing but the spec is written; begin with spec',
      'spec.podSets[1].minCount: needs countPath, the path of the field that a smaller count is written to; add it',
    ]);
  });

  test('lets the path of a template depend on its entry alone', () => {
    expect(problemsOf({ podSets: [{ items: 'spec.groups', templatePath: 'object.spec.path' }] })[0]).toContain(
      'the variables here are item, key, path, parentPath',
    );
  });
});

describe('an expression', () => {
  const run = (text: string, variables: Record<string, unknown> = {}, compile: typeof count | typeof string | typeof boolean = count) =>
    evaluated<unknown>(compile(OBJECT_ENVIRONMENT, 'spec.count', text), { spec: {}, status: {}, ...variables }, new CostBudget(100_000));

  test('that fails names itself, its error, and the way around it', () => {
    expect(run('spec.replicas * 2')).toEqual({
      problem: {
        field: 'spec.count',
        problem: '"spec.replicas * 2" fails: no such key: replicas; for a field that may be absent write .?replicas.orValue(...)',
      },
    });
  });

  test.each(["dyn('3')", '-1', '1.5', '3000000000', 'dyn([1])'])('that gives %s gives no number of pods', (text) => {
    expect(run(`dyn(${text})`)).toMatchObject({ problem: { problem: expect.stringContaining('must give an int from 0 to 2147483647') } });
  });

  test('may give an optional value, or null', () => {
    expect(run('spec.?replicas')).toEqual({ value: 'absent' });
    expect(run('spec.?replicas', { spec: { replicas: 3n } })).toEqual({ value: 3 });
    expect(run('status.?reason', {}, string)).toEqual({ value: '' });
    expect(run('null')).toEqual({ value: 'absent' });
  });

  test('that costs too much is cut short, and so are those of one object together', () => {
    const list = Array.from({ length: 2000 }, (_, index) => BigInt(index));
    expect(run('spec.list.map(a, spec.list.map(b, a + b).sum()).sum()', { spec: { list } })).toMatchObject({
      problem: { problem: expect.stringContaining('actual cost limit exceeded') },
    });
    const budget = new CostBudget(1);
    const cheap = boolean(OBJECT_ENVIRONMENT, 'spec.state.ready', "status.?phase.orValue('') == 'a'");
    const outcomes = [1, 2, 3].map(() => evaluated(cheap, { status: {} }, budget));
    expect(outcomes.at(-1)).toMatchObject({ problem: { problem: expect.stringContaining('cost too much together') } });
  });

  test('is refused when it is compiled with the problem, which has its field', () => {
    expect(() => boolean(OBJECT_ENVIRONMENT, 'spec.state.ready', '1')).toThrow(ExpressionProblem);
  });
});

describe('an object that its description cannot read', () => {
  const kind = describedKind(compiled(CREW_SPEC));

  test('is refused with the expression and its error, entry by entry', () => {
    const crew = aCrew({ spec: { groups: [{ name: 'deck', pod: { spec: { containers: [] } } }] } });
    expect(kind.ruleProblems(crew, DEFAULT_JOB_RULES)).toEqual([
      {
        field: 'spec.podSets[1].count',
        problem: 'for spec.groups[0]: "item.hands" fails: no such key: hands; for a field that may be absent write .?hands.orValue(...)',
      },
      expect.objectContaining({ field: 'spec.podSets[1].minCount' }),
    ]);
    expect(kind.cache.problem(crew)).toContain('spec.podSets[1].count');
    expect(kind.podSets(crew)).toHaveLength(2);
  });

  test('is refused where two pod sets may have fewer pods, as by Kueue', () => {
    const pod = { spec: { containers: [] } };
    const groups = (...least: (number | undefined)[]) =>
      aCrew({
        spec: {
          groups: least.map((each, index) => ({ name: `g${index}`, hands: 3, pod, ...(each === undefined ? {} : { least: each }) })),
        },
      });
    expect(kind.ruleProblems(groups(1, undefined, 2), DEFAULT_JOB_RULES)).toEqual([
      {
        field: 'spec.groups[2].hands',
        problem: 'may have fewer pods, as spec.groups[0].hands may; of one object, one pod set can',
      },
    ]);
    expect(kind.ruleProblems(groups(3, undefined, 2, 9), DEFAULT_JOB_RULES)).toEqual([]);
    expect(kind.podSets(groups(0)).map(({ minCount }) => minCount)).toEqual([undefined, 1]);
  });

  test('is refused where the field that fewer pods are written to is not their number', () => {
    const [captain, groups] = CREW_SPEC.podSets;
    if (captain === undefined || groups === undefined) throw new Error('there are two');
    const doubled = describedKind(
      compiled({ ...CREW_SPEC, podSets: [captain, { ...groups, count: 'item.hands * 2', minCount: 'item.?least' }] }),
    );
    expect(doubled.ruleProblems(aCrew(), DEFAULT_JOB_RULES)).toEqual([
      { field: 'spec.groups[1].hands', problem: 'is 3, where the pod set "oars" has 6 pods: fewer cannot be written to it' },
    ]);
  });

  test('has no least number of pods where the expression gives none', () => {
    const [captain, groups] = CREW_SPEC.podSets;
    if (captain === undefined || groups === undefined) throw new Error('there are two');
    const optional = describedKind(compiled({ ...CREW_SPEC, podSets: [captain, { ...groups, minCount: 'item.?least' }] }));
    expect(optional.podSets(aCrew()).map(({ minCount }) => minCount)).toEqual([undefined, undefined, 1]);
  });

  test('is refused by the rules of its description, in their words', () => {
    expect(kind.ruleProblems(aCrew({ spec: { groups: [] } }), DEFAULT_JOB_RULES)).toEqual([
      { field: 'spec.groups', problem: 'must have a group' },
    ]);
  });

  test('is refused where nothing of it has pods', () => {
    const [, groups] = CREW_SPEC.podSets;
    const { validations: _none, ...spec } = CREW_SPEC;
    const crews = describedKind(compiled({ ...spec, podSets: groups === undefined ? [] : [groups] }));
    expect(crews.ruleProblems(aCrew({ spec: { groups: [] } }), DEFAULT_JOB_RULES)).toEqual([
      { field: 'spec', problem: 'has no pods where the description of Crew looks for them; name some' },
    ]);
  });

  test('is refused where two pod sets have one name, or one has none that could be noted', () => {
    const group = { hands: 1, pod: { spec: { containers: [] } } };
    const named = (...names: string[]) => aCrew({ spec: { groups: names.map((name) => ({ ...group, name })) } });
    expect(kind.ruleProblems(named('a', 'a'), DEFAULT_JOB_RULES)).toEqual([
      { field: 'spec', problem: 'has two pod sets of the name "a"; give each entry a name of its own' },
    ]);
    expect(kind.ruleProblems(named('a b'), DEFAULT_JOB_RULES)[0]?.problem).toContain('gives the name "a b", which must be of at most 63');
  });

  test.each([
    ['spec.captain', { captain: 'text' }, 'must be a pod template'],
    ['spec.captain', { captain: { spec: { containers: 'text' } } }, 'spec.containers must be a list'],
    ['spec.captain', { captain: { spec: { containers: [{ name: 'a', env: [null] }] } } }, 'spec.containers[0].env[0] must be an object'],
    ['spec.captain', { captain: { spec: { containers: [], volumes: {} } } }, 'spec.volumes must be a list'],
    ['spec.captain', { captain: { spec: { containers: [], nodeSelector: { a: 1 } } } }, 'spec.nodeSelector is of a wrong type'],
    ['spec.captain', { captain: { metadata: { labels: [] }, spec: { containers: [] } } }, 'metadata.labels must be an object of strings'],
  ])('is refused where %s is none, whatever stands there', (field, spec, problem) => {
    const crew = aCrew({ spec });
    const [first] = kind.ruleProblems(crew, DEFAULT_JOB_RULES);
    expect(first).toEqual({ field, problem: expect.stringContaining(problem) });
    // Nothing that reads it throws.
    expect(kind.references(crew)).toEqual([]);
    expect(kind.cache.compact(structuredClone(crew)).metadata.name).toBe('argo');
    expect(kind.copies.essentials(structuredClone(crew), false).metadata.name).toBe('argo');
    expect(kind.programOf(crew)).toHaveLength(12);
  });

  test('is refused where it is larger than the rules let it, or says more than a cache may keep', () => {
    const rules = { ...DEFAULT_JOB_RULES, bytesMax: 100_000 };
    const noted = Array.from({ length: 80 }, () => 'n'.repeat(1000));
    expect(kind.ruleProblems(aCrew({ spec: { noted: 'n'.repeat(50_000) } }), rules)).toEqual([]);
    expect(kind.ruleProblems(aCrew({ spec: { noted } }), rules)[0]?.problem).toContain('at most 32768 are taken');
    expect(kind.ruleProblems(aCrew({ spec: { noted: [...noted, ...noted] } }), rules)[0]?.problem).toContain('at most 100000 are taken');
  });

  test('says what is wrong with a spec alone', () => {
    expect(kind.specProblems('text')).toEqual([{ field: 'spec', problem: 'is missing' }]);
    expect(kind.specProblems(aCrew().spec)).toEqual([]);
    expect(kind.specProblems({}).map(({ field }) => field)).toEqual(['spec.captain', 'spec.validations[0].expression']);
    expect(kind.podSelector({ metadata: {}, spec: {} } as WorkObject)).toBeUndefined();
  });
});
