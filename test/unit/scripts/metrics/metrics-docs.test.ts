/** Goal: the list of metrics is the one that the programs have, and Prometheus' own checker finds nothing in it. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { describedMetrics, type DescribedMetric } from '../../../../scripts/metrics/described-metrics.ts';
import { metricsDocs } from '../../../../scripts/metrics/metrics-docs.ts';
import { managerRegistry, workerRegistry } from '../../../../scripts/metrics/registries.ts';
import { readSources } from '../../../support/source-files.ts';

const ROOT = path.join(import.meta.dirname, '..', '..', '..', '..');
const PROMTOOL = '/usr/bin/promtool';
/** It has a label `backoffLimit`. */
const UPSTREAMS_LABEL = 'job_controller_job_finished_indexes_total label names should be written in';

const page = (): string => readFileSync(path.join(ROOT, 'docs', 'metrics.md'), 'utf8');

test('docs/metrics.md says what the programs register; node scripts/generate-metrics-docs.ts writes it', async () => {
  expect(page()).toBe(await metricsDocs());
});

test('no metric stands in the code that the page does not know', () => {
  const programs = readSources().filter(({ name }) => /^(manager|worker|shared\/(kube|runtime))\//.test(name));
  const named = programs.flatMap(({ text }) => [...text.matchAll(/\bname: '(switchyard_\w+|workqueue_\w+|rest_client_\w+)'/g)]);
  const names = named.flatMap(([, name]) => (name === undefined ? [] : [name]));
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => !page().includes(`\`${name}\``))).toEqual([]);
});

/**
 * Of these there are as many values as there are clusters (with what they are of), queues (with what they are in and give), and managers
 * that share a worker cluster.
 */
const OF_CLUSTERS_AND_QUEUES =
  // Upstream's controller_name is whatever Jobs say.
  'cluster host server origin cluster_queue preempting_cluster_queue cohort flavor local_queue namespace queue submission_queue controller_name'.split(
    ' ',
  );
/** These have few values, which stand in the code or are those of HTTP and Kubernetes. */
const CLOSED = [
  'action backoffLimit certificate check code completion_mode condition event group invariant kind method name node_version outcome',
  'reason resource result route stage status terminal verb version webhook',
].flatMap((names) => names.split(' '));

test('queues and clusters are the only labels of which there may be many', async () => {
  const metrics = [...(await describedMetrics(managerRegistry())), ...(await describedMetrics(workerRegistry()))];
  const labels = new Set(metrics.flatMap((metric) => metric.labels));
  expect([...labels].filter((label) => !OF_CLUSTERS_AND_QUEUES.includes(label)).toSorted()).toEqual(CLOSED.toSorted());
  // A histogram has a series for each bucket: not for each pair of two that are many.
  const many = metrics.filter(
    (metric) => metric.type === 'histogram' && metric.labels.filter((label) => OF_CLUSTERS_AND_QUEUES.includes(label)).length > 1,
  );
  // Of a cluster there is one host.
  expect(many.map(({ name }) => name).filter((name) => !name.startsWith('rest_client_'))).toEqual([]);
});

describe.each([
  ['manager', managerRegistry],
  ['worker', workerRegistry],
])('of the %s', (_program, registryOf) => {
  const all = (): Promise<readonly DescribedMetric[]> => describedMetrics(registryOf());

  test('counters end in _total and nothing else does; times are seconds and sizes bytes', async () => {
    const metrics = await all();
    expect(metrics.filter(({ name, type }) => name.endsWith('_total') !== (type === 'counter'))).toEqual([]);
    expect(metrics.filter(({ name }) => /_(ms|millis\w*|minutes|hours|kb|kib|mb|mib|percent)(_|$)/.test(name))).toEqual([]);
    expect(metrics.filter(({ name, type }) => type === 'histogram' && !name.endsWith('_seconds'))).toEqual([]);
    expect(metrics.filter(({ help }) => help === '')).toEqual([]);
  });

  // Also of what has no series yet: each metric is given one.
  test.skipIf(!existsSync(PROMTOOL))(
    'promtool check metrics finds nothing (skipped where Debian’s package prometheus is not installed)',
    async () => {
      const families = (await all()).map(({ name, type, help, labels }) => {
        const text = labels.map((label) => `${label}="x"`);
        const series =
          type === 'histogram'
            ? [
                `${name}_bucket{${[...text, 'le="+Inf"'].join(',')}} 1`,
                `${name}_sum{${text.join(',')}} 1`,
                `${name}_count{${text.join(',')}} 1`,
              ]
            : [`${name}{${text.join(',')}} 1`];
        return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...series, ''].join('\n');
      });
      const { status, stdout, stderr } = spawnSync(PROMTOOL, ['check', 'metrics'], { input: families.join(''), encoding: 'utf8' });
      // The one name that is upstream's and not as Prometheus would have it: whoever looks for it looks for that.
      const told = `${stdout}${stderr}`.split('\n').filter((line) => line !== '');
      expect(told.filter((line) => !line.startsWith(UPSTREAMS_LABEL))).toEqual([]);
      // 1 is a text that cannot be read, 3 one with findings.
      expect(status).toBe(told.length === 0 ? 0 : 3);
    },
  );
});
