/**
 * Goal: what is set up for Kueue is taken over by the program into objects that our API takes, and whoever does it is told what is
 * lost.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { SWITCHYARD_KINDS } from '../../manager/api/kinds.ts';
import type { KubeObject } from '../../shared/api/kubernetes.ts';
import { createKindsPlane } from '../support/kinds-plane.ts';
import { switchyardHere } from '../support/switchyard-here.ts';
import type { Outcome as ProcessOutcome } from '../support/switchyard-process.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const FOLDER = path.join(import.meta.dirname, 'kueue');
const FILES = readdirSync(FOLDER);
const LIMIT_MS = 120_000;

let plane: Awaited<ReturnType<typeof createKindsPlane>>;
beforeAll(async () => {
  plane = await createKindsPlane();
});
afterAll(() => plane.close());

type Outcome = { readonly code: number | null; readonly objects: readonly KubeObject[]; readonly report: readonly string[] };

/** In this process where nothing is read from standard input. */
async function importing(args: readonly string[], input?: string): Promise<Outcome> {
  const { code, stdout, stderr } = input === undefined ? await switchyardHere(['import', 'kueue', ...args]) : await runProgram(args, input);
  const objects = parseAllDocuments(stdout).flatMap((document) => (document.contents === null ? [] : [document.toJS() as KubeObject]));
  return { code, objects, report: stderr.trimEnd().split('\n') };
}
function runProgram(args: readonly string[], input: string): Promise<ProcessOutcome> {
  const child = spawn(process.execPath, ['manager/cli/import-kueue.ts', ...args], { cwd: ROOT, stdio: ['pipe', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  child.stdin.end(input);
  return new Promise((resolve, reject) => child.once('error', reject).once('close', (code) => resolve({ code, ...output })));
}
const file = (name: string): string => path.join(FOLDER, `${name}.yaml`);
const beginnings = (kind: string, { report }: Outcome): string[] =>
  report.filter((line) => line.startsWith(`${kind}: `)).map((line) => line.split(': ').slice(1, 3).join(': '));

/** Creates the objects as kubectl would, which refuses fields that are not known. */
async function created(objects: readonly KubeObject[]): Promise<KubeObject[]> {
  const made: KubeObject[] = [];
  for (const object of objects) {
    const resource = SWITCHYARD_KINDS.find((kind) => kind.resource.kind === object.kind)?.resource;
    if (resource === undefined) throw new Error(`there is no kind ${object.kind}`);
    made.push(await plane.client.create(resource, object as never, { fieldValidation: 'Strict' }));
  }
  return made;
}

test('all there is, in one go, becomes objects that our API takes', { timeout: LIMIT_MS }, async () => {
  const outcome = await importing(FILES.map((name) => path.join(FOLDER, name)));
  expect(outcome.code).toBe(0);
  const made = await created(outcome.objects);
  const names = made.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  expect(names).toHaveLength(new Set(names).size);
  expect(made.map(({ kind }) => kind).filter((kind) => kind === 'ClusterQueue')).toHaveLength(13);
  expect(outcome.report).toContainEqual(expect.stringMatching(new RegExp(`^${made.length} objects written; `)));
});

describe('what it says, and nothing more, of', () => {
  test('one queue: nothing is lost', { timeout: LIMIT_MS }, async () => {
    const outcome = await importing(['--strict', file('single-cluster-queue')]);
    expect(outcome).toMatchObject({ code: 0 });
    expect(beginnings('lost', outcome)).toEqual([]);
    expect(outcome.objects.map(({ kind }) => kind)).toEqual(['ResourceFlavor', 'ClusterQueue', 'LocalQueue', 'WorkloadPriorityClass']);
    expect(outcome.objects[1]).toEqual({
      apiVersion: 'switchyard.dev/v1alpha1',
      kind: 'ClusterQueue',
      metadata: { name: 'everybody' },
      spec: {
        namespaceSelector: {},
        resourceGroups: [
          {
            coveredResources: ['cpu', 'memory'],
            flavors: [
              {
                name: 'plain',
                resources: [
                  { name: 'cpu', nominalQuota: 12 },
                  { name: 'memory', nominalQuota: '48Gi' },
                ],
              },
            ],
          },
        ],
      },
    });
  });

  test('cohorts, with what they lend and borrow: nothing is lost, and an empty cohort is none', { timeout: LIMIT_MS }, async () => {
    const outcome = await importing(['--strict', file('cohorts')]);
    expect(outcome.code).toBe(0);
    expect(
      outcome.objects.map(({ metadata, ...rest }) => [metadata.name, (rest as { spec?: { cohortName?: string } }).spec?.cohortName]),
    ).toEqual([
      ['team-a', 'both'],
      ['team-b', 'both'],
      ['alone', undefined],
    ]);
  });

  test.each<[string, readonly string[]]>([
    ['stopped', []],
    ['from-a-server', []],
    ['multikueue', []],
    ['hierarchy', []],
    ['preemption', []],
    ['fair-sharing', []],
    ['flavors', ['ResourceFlavor big-device: spec.topologyName']],
    ['configuration', []],
  ])('%s: lost is %j, which --strict makes a failure', { timeout: LIMIT_MS }, async (name, lost) => {
    const outcome = await importing(['--strict', file(name)]);
    expect(beginnings('lost', outcome)).toEqual(lost);
    expect(outcome.code).toBe(lost.length === 0 ? 0 : 1);
    expect(outcome.objects).not.toEqual([]);
  });

  test('fair sharing: which flags of the manager it needs', { timeout: LIMIT_MS }, async () => {
    const outcome = await importing([file('fair-sharing')]);
    expect(beginnings('note', outcome).filter((each) => each.includes(': spec.'))).toEqual([
      'ClusterQueue weighty: spec.fairSharing',
      'ClusterQueue weighty: spec.admissionScope',
      'LocalQueue default/light: spec.fairSharing',
    ]);
    expect(outcome.report).toContainEqual(expect.stringContaining('--admission-fair-sharing-half-life'));
  });

  test('clusters: what to make of them', { timeout: LIMIT_MS }, async () => {
    const outcome = await importing([file('multikueue')]);
    expect(outcome.objects.map(({ kind }) => kind)).toEqual(['ClusterQueue']);
    expect(outcome.report).toContainEqual(
      expect.stringMatching(/^note: MultiKueueCluster west: make a WorkerCluster west .* the Secret west-kubeconfig,/),
    );
    expect(outcome.report).toContainEqual(
      expect.stringMatching(/^skipped: Job sample: .* write the label switchyard\.dev\/queue-name: everybody/),
    );
    expect(outcome.report).toContainEqual(expect.stringContaining('--kueue-queue-label'));
  });
});

test('standard input is read where a dash stands', { timeout: LIMIT_MS }, async () => {
  const outcome = await importing(['-'], readFileSync(file('stopped'), 'utf8'));
  expect(outcome.code).toBe(0);
  expect(outcome.objects).toMatchObject([{ spec: { stopPolicy: 'HoldAndDrain' } }, { spec: { stopPolicy: 'Hold' } }]);
});

test.each([
  [['-'], 'kind: [', 1, 'import-kueue: standard input, document 1: this is no YAML'],
  [['/none.yaml'], '', 1, 'import-kueue: /none.yaml cannot be read: ENOENT'],
  [[], '', 2, 'import-kueue: no file is named; write npm run import-kueue -- FILE...'],
  [['-', '-'], '', 2, 'import-kueue: - is named twice'],
  [['--strickt', '-'], '', 2, 'import-kueue: --strickt is no flag of this program'],
])('%j with %j on standard input ends with status %i: %s', { timeout: LIMIT_MS }, async (args, input, code, complaint) => {
  const outcome = await importing(args, input);
  expect(outcome).toMatchObject({ code, objects: [] });
  expect(outcome.report.join('\n')).toContain(complaint);
});
