import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { readFileSync } from 'node:fs';
import { CommandError } from '../../../../../manager/cli/command-error.ts';
import { runKindsTest } from '../../../../../manager/cli/kinds/run.ts';
import { understood, understoodLines } from '../../../../../manager/cli/kinds/understood.ts';
import { readManifests } from '../../../../../manager/cli/import-kueue/documents.ts';
import type { Session } from '../../../../../manager/cli/session.ts';
import { aCrew, compiled, CREW_SPEC } from '../../work-kind/described/described.ts';

const description = compiled(CREW_SPEC);
const see = (crew: object) => readManifests('crew.yaml', stringify(crew)).map((manifest) => understood(description, manifest));

describe('what is understood of an object', () => {
  test('has its pod sets, what they request, and its state', () => {
    const [seen] = see(aCrew({ status: { phase: 'Sailing', aboard: true, done: { deck: 1 } } }));
    expect(seen).toEqual({
      object: 'Crew team/argo',
      suspended: false,
      podSets: [
        { name: 'captain', pods: 1, finished: 0, requests: { cpu: '500m' }, template: 'spec.captain' },
        { name: 'deck', pods: 2, minPods: 2, finished: 1, requests: { cpu: '1' }, template: 'spec.groups[0].pod' },
        { name: 'oars', pods: 3, minPods: 1, finished: 0, requests: { cpu: '2' }, template: 'spec.groups[1].pod' },
      ],
      state: { started: true, ready: true, atRest: false },
      podSelector: 'example.com/crew=argo',
      problems: [],
    });
  });

  test('is a table with the state in words', () => {
    const lines = (crew: object) => see(crew).flatMap((each) => understoodLines(each, 100));
    expect(lines(aCrew()).slice(0, 3)).toEqual([
      'Crew team/argo',
      '  POD SET  PODS  LEAST  DONE  REQUESTS OF EACH  TEMPLATE',
      '  captain  1     -      0     cpu=500m          spec.captain',
    ]);
    const state = (crew: object) => lines(crew).find((line) => line.startsWith('  state: '));
    const at = (status: object, suspend = false) => aCrew({ spec: { policy: { suspend } }, status: status as never });
    const condition = { status: 'True', reason: 'Storm', message: 'at sea' };
    expect([
      state(aCrew()),
      state(at({ phase: 'Sailing' })),
      state(at({ phase: 'Sailing', aboard: true })),
      state(at({ phase: 'Moored' }, true)),
      state(at({ conditions: [{ type: 'Sunk', ...condition }] })),
    ]).toEqual([
      '  state: not started',
      '  state: started, and not all pods are ready',
      '  state: started, and all pods are ready',
      '  state: suspended, and nothing of it runs',
      '  state: Failed: Storm: at sea',
    ]);
  });

  test('names every problem, and shows nothing that moves a cursor', () => {
    const [seen] = see(
      aCrew({ spec: { groups: [], captain: { spec: { containers: [{ name: 'a', resources: { requests: { cpu: 'lots' } } }] } } } }),
    );
    expect(seen?.problems.map(({ field }) => field)).toEqual(['spec.groups']);
    const [wrong] = see(aCrew({ spec: { groups: [{ name: '\u001b[2J', hands: 1, pod: { spec: { containers: [] } } }] } }));
    expect(wrong === undefined ? [] : understoodLines(wrong, 200).join('\n')).not.toContain('\u001b');
  });
});

describe('kinds test', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'kinds-test-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const file = (name: string, value: object | string): string => {
    const target = path.join(folder, name);
    writeFileSync(target, typeof value === 'string' ? value : stringify(value));
    return target;
  };
  const kind = (spec: object = CREW_SPEC, name = 'crews.example.com') =>
    file('kind.yaml', { apiVersion: 'switchyard.dev/v1alpha1', kind: 'WorkKind', metadata: { name }, spec });
  async function run(description: string, ...manifests: string[]): Promise<{ readonly code: number; readonly said: string }> {
    let said = '';
    const output = { write: async (text: string) => void (said += text), isTerminal: false, width: 100, colours: false };
    const session = { output, errors: output, now: () => 0 } as unknown as Session;
    return { code: await runKindsTest({ file: description, manifests, output: 'text' }, session), said };
  }

  test('says what is understood, and fails where an object has a problem', async () => {
    const good = await run(kind(), file('crew.yaml', aCrew()));
    expect(good).toEqual({
      code: 0,
      said: expect.stringContaining('Crew (example.com/v1): the description is accepted.\n\nCrew team/argo\n'),
    });
    const bad = await run(kind(), file('bad.yaml', aCrew({ spec: { groups: [] } })));
    expect(bad).toEqual({ code: 1, said: expect.stringContaining('problem: spec.groups: must have a group') });
    expect(await run(kind())).toEqual({ code: 0, said: 'Crew (example.com/v1): the description is accepted.\n' });
  });

  test.each([
    ['a field that is none', { ...CREW_SPEC, podset: [] }, undefined, 'unknown field "spec.podset"'],
    ['another name', CREW_SPEC, 'crew', 'the name must be that of the CustomResourceDefinition'],
    ['an expression that does not compile', { ...CREW_SPEC, ttlSeconds: '1 +' }, undefined, 'spec.ttlSeconds: does not compile'],
  ])('refuses a description with %s', async (_what, spec, name, problem) => {
    await expect(run(kind(spec, name))).rejects.toThrow(problem);
    await expect(run(kind(spec, name))).rejects.toBeInstanceOf(CommandError);
  });

  test('refuses files that hold something else', async () => {
    await expect(run(file('crew.yaml', aCrew()))).rejects.toThrow('there must be one WorkKind in it, and nothing else');
    const job = file('job.yaml', { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'a' } });
    await expect(run(kind(), job)).rejects.toThrow('this is batch/v1 Job, and the description is of example.com/v1 Crew');
    await expect(run(kind(), file('no.yaml', '{'))).rejects.toThrow('this is no YAML');
    await expect(run(kind(), path.join(folder, 'none.yaml'))).rejects.toThrow('cannot be read');
  });

  test('accepts the example of the documentation, which shows the whole of a description', async () => {
    const text = readFileSync(path.join(import.meta.dirname, '../../../../../docs/kinds.md'), 'utf8');
    const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(text) ?? [];
    expect(parseAllDocuments(example)).toHaveLength(1);
    expect(await run(file('example.yaml', example))).toEqual({ code: 0, said: 'Crew (example.com/v1): the description is accepted.\n' });
  });
});
