/** The values of the charts follow from the flags of the programs and from scripts/charts: schema, values.yaml and what is passed on. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import Schema from 'typebox/schema';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { MANAGER_PROGRAM } from '../../../manager/config/config.ts';
import { MANAGER_FLAGS_OF_CHART } from '../../../scripts/charts/manager-flags-of-chart.ts';
import { WORKER_FLAGS_OF_CHART } from '../../../scripts/charts/worker-values.ts';
import { CHART_VALUES, chartFiles, flagEntries } from '../../../scripts/generate-chart-schemas.ts';
import { shapeOf, type Flag, type FlagTable } from '../../../shared/runtime/flags.ts';
import { textOfValue } from '../../../shared/runtime/value-shape.ts';
import { WORKER_PROGRAM } from '../../../worker/config.ts';
import { renderChart } from '../../support/helm.ts';

const CHARTS = path.join(import.meta.dirname, '../../../charts');
const schemaOf = (chart: string) => JSON.parse(chartFiles().get(`${chart}/values.schema.json`) ?? '') as object;

test.each([...chartFiles()])('charts/%s is what follows from the flags and the descriptions', (name, text) => {
  expect(readFileSync(path.join(CHARTS, name), 'utf8'), 'run node scripts/generate-chart-schemas.ts').toBe(text);
});

test.each([
  ['switchyard-manager', MANAGER_PROGRAM.flags, MANAGER_FLAGS_OF_CHART],
  ['switchyard-worker', WORKER_PROGRAM.flags, WORKER_FLAGS_OF_CHART],
] as const)('every flag of the program is a value of %s, or one that the chart sets itself', (chart, flags: FlagTable, ofChart) => {
  const values = flagEntries(CHART_VALUES[chart]!.values, flags).map(({ flag }) => flag);
  expect([...values, ...Object.keys(ofChart)].toSorted()).toEqual(Object.keys(flags).toSorted());
});

test.each(Object.keys(CHART_VALUES))('the defaults of %s are valid, mean the same in YAML 1.1, and have no secrets', (chart) => {
  const text = chartFiles().get(`${chart}/values.yaml`) ?? '';
  const values: unknown = parse(text, { version: '1.1' });
  expect(values).toEqual(parse(text));
  expect(Schema.Check(schemaOf(chart), values)).toBe(true);
});

test.each(Object.keys(CHART_VALUES))('every value of %s is described in its README', (chart) => {
  const rows = (chartFiles().get(`${chart}/README.md`) ?? '').split('\n').filter((line) => line.startsWith('| `'));
  expect(rows.length).toBeGreaterThan(50);
  expect(rows.filter((row) => row.endsWith('|  |'))).toEqual([]);
});

test('values of an earlier version that lack a group are refused before a template looks into them', () => {
  expect(() => renderChart('manager', 'networkPolicy=null')).toThrow(/networkPolicy is required/);
});

test('namespaces in which a worker would not run Jobs, or its manager had no rights, are refused with the value to change', () => {
  const bound = 'config.namespaces={team-a,team-b}';
  expect(() => renderChart('worker', bound, 'managerAccess.namespaces={team-a,team-c}')).toThrow(
    /managerAccess\.namespaces: team-c is not among config\.namespaces, so the worker would not run the copies there/,
  );
  for (const values of [[bound], ['managerAccess.namespaces={team-a}'], [bound, 'managerAccess.namespaces={team-a}']]) {
    const named = values.some((each) => each.startsWith('managerAccess.namespaces')) ? 'managerAccess' : 'config';
    expect(() => renderChart('worker', ...values, 'managerAccess.createNamespaces=true')).toThrow(
      new RegExp(`managerAccess\\.createNamespaces cannot be used with ${named}\\.namespaces: .*; create the namespaces yourself`),
    );
  }
  for (const wrong of ['Team', '-a', 'a,a']) expect(() => renderChart('worker', `config.namespaces={${wrong}}`)).toThrow(/namespaces/);
});

/** Values as people write them, right and wrong, for all kinds of flags. */
const SAMPLES: readonly unknown[] = [
  true,
  false,
  0,
  1,
  7,
  -1,
  1.5,
  1023,
  1024,
  16_383,
  16_384,
  65_536,
  65_537,
  262_144,
  262_145,
  10_000_000,
  10_000_001,
  1e9,
  1e-10,
  'true',
  '0',
  '5',
  '',
  'a',
  'A b',
  'a.b/c',
  'a/b',
  'no/',
  'switchyard.dev/worker',
  'kube-system',
  '*',
  'a:b',
  'redis://a',
  'rediss://a:1',
  'http://a',
  'info',
  'loud',
  'Failed',
  'None',
  'All',
  'Eviction',
  'Creation',
  'Refuse',
  'Ignore',
  '-',
  '0s',
  '0ms',
  '0h',
  '499ms',
  '500ms',
  '999ms',
  '1s',
  '4s',
  '4999ms',
  '5s',
  '30s',
  '31s',
  '30001ms',
  '59s',
  '60s',
  '61s',
  '1m',
  '2m',
  '1h',
  '61m',
  '10',
  '10d',
  '1.5s',
  'x'.repeat(63),
  'x'.repeat(64),
  'a-',
  '-a',
  'a_b',
  [],
  ['a'],
  ['a', 'b'],
  ['*'],
  ['*', 'a'],
  ['a,b'],
  ['kube-system'],
  ['A'],
  ['10.0.0.0/8'],
  ['::1/128', 'fe80::/10'],
  ['10.0.0.0'],
  ['job'],
  ['job', 'ttl-after-finished'],
  ['cron'],
  ['LessThanInitialShare'],
  ['LessThanOrEqualToFinalShare', 'LessThanInitialShare'],
  ['LessThanInitialShare', 'LessThanOrEqualToFinalShare'],
  ['a:1'],
  ['a:1', '[::1]:2'],
  ['a:0'],
  ['a:65536'],
  ['system:serviceaccount:a:b'],
  [1],
  {},
  { cpu: 1 },
  { cpu: '1' },
  { cpu: '1e-10', memory: 0.5 },
  { cpu: 'x' },
  { cpu: -1 },
  { cpu: '' },
]; // prettier-ignore

describe('what the schema says of a value', () => {
  const flags: FlagTable = { ...MANAGER_PROGRAM.flags, ...WORKER_PROGRAM.flags };
  const values = Object.values(CHART_VALUES).flatMap((chart) => flagEntries(chart.values, chart.flags).map(({ flag }) => flag));
  test.each([...new Set(values)])('of --%s is what the program says', (name) => {
    const flag = flags[name]!;
    const shape = shapeOf(flag);
    const differences = SAMPLES.flatMap((sample) => {
      const bySchema = Schema.Check(shape as object, sample);
      return bySchema === isTaken(flag, textOfValue(sample, shape)) ? [] : [{ sample, bySchema }];
    });
    expect(differences).toEqual([]);
  });
});

function isTaken(flag: Flag, text: string | undefined): boolean {
  if (text === undefined) return false;
  if (flag.value === undefined) return text === 'true' || text === 'false';
  try {
    flag.parse(text);
    return true;
  } catch {
    return false;
  }
}

test('the charts pass every value, also those that values.yaml does not set, and refuse a key that is none', () => {
  const argsOf = (...values: string[]) => JSON.stringify(renderChart('manager', ...values).filter(({ kind }) => kind === 'Deployment'));
  expect(argsOf()).not.toContain('--story-event-qps');
  expect(argsOf('config.storyEventQps=0')).toContain('"--story-event-qps=0"');
  expect(argsOf('config.redisPrefix=mine')).toContain('"--redis-prefix=mine"');
  expect(() => argsOf('config.storyEventsQps=0')).toThrow(/storyEventsQps/);
  expect(() => argsOf('config.fenceRenewInterval=2m')).toThrow(/fenceRenewInterval/);
});
