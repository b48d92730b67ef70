/** Whether docs/compatibility.md says of each recorded version of Kubernetes what that says of itself. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { GATES, loadRecordedVersions, type RecordedVersion } from './compatibility/recorded-versions.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
const recorded = loadRecordedVersions();

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
const [header = [], , ...rows] = readFileSync(path.join(ROOT, 'docs', 'compatibility.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map(cellsOf);
const versions = header.slice(1);

function wordsOf(gate: RecordedVersion['gates'][string] | undefined): string {
  if (gate === undefined) return 'no';
  return gate.stage === 'GA' ? 'GA' : `${gate.stage.toLowerCase()}, ${gate.enabled ? 'on' : 'off'}`;
}

test('the versions are those from the least that the charts take to the newest that is recorded', () => {
  for (const chart of ['manager', 'worker']) {
    const { kubeVersion } = parse(readFileSync(path.join(ROOT, 'charts', `switchyard-${chart}`, 'Chart.yaml'), 'utf8')) as {
      kubeVersion: string;
    };
    expect(kubeVersion).toBe(`>=${versions[0]}.0-0`);
  }
  expect(versions.slice(1)).toEqual(recorded.map(({ version }) => version));
});

test('every gate that plays a part has a row', () => {
  expect(rows.map(([name = '']) => name)).toEqual(expect.arrayContaining(GATES.map((gate) => `\`${gate}\``)));
});

test.each(recorded.map((each) => [each.version, each] as const))(
  'the table says of %s what is recorded of it',
  (version, { gates, resources }) => {
    const column = header.indexOf(version);
    const told = rows.map((row) => [row[0] ?? '', row[column] ?? ''] as const);
    const expected = told.map(([name]) => {
      const [subject = '', groupVersion] = [...name.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
      const isServed = groupVersion !== undefined && resources.includes(`${groupVersion}/${subject}`);
      return [name, groupVersion === undefined ? wordsOf(gates[subject]) : isServed ? 'yes' : 'no'];
    });
    expect(told).toEqual(expected);
  },
);

test('what the charts and programs need is served by every recorded version', () => {
  const needed = [
    'batch/v1/jobs/status',
    'admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
    'coordination.k8s.io/v1/leases',
    'policy/v1/poddisruptionbudgets',
  ];
  for (const { version, resources, gates } of recorded) {
    expect(resources, version).toEqual(expect.arrayContaining(needed));
    expect(gates['JobManagedBy']?.enabled, version).toBe(true);
  }
});
