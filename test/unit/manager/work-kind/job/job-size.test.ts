import { describe, expect, test } from 'vitest';
import { ESSENTIALS_BYTES_MAX, jobBytes, sizeProblems } from '../../../../../manager/work-kind/job/job-size.ts';
import { CLUSTERS_ANNOTATION } from '../../../../../shared/api/names.ts';
import { aHomeJob } from '../../../../support/jobs.ts';

const withPod = (pod: object) => aHomeJob({ spec: { template: { spec: { containers: [{ name: 'main', image: 'busybox' }], ...pod } } } });

describe('the size of a Job', () => {
  test('is that of its JSON, without what API servers add to it', () => {
    const job = aHomeJob();
    const { status: _, ...written } = job;
    expect(jobBytes(job)).toBe(Buffer.byteLength(JSON.stringify(written)));
    const stored = aHomeJob({
      metadata: { managedFields: [{ manager: 'x'.repeat(1000) }] },
      status: { completedIndexes: '1,'.repeat(1000) },
    });
    expect(jobBytes(stored)).toBe(jobBytes(job));
  });

  test('counts bytes, not characters', () => {
    const named = (name: string): number => jobBytes(withPod({ containers: [{ name, image: 'busybox' }] }));
    expect(named('ä'.repeat(10)) - named('a'.repeat(10))).toBe(10);
  });

  test('may be what is taken, and a byte more is refused with the size, the limit and the remedy', () => {
    const job = withPod({ containers: [{ name: 'main', image: 'busybox', args: ['x'.repeat(20_000)] }] });
    const bytes = jobBytes(job);
    expect(sizeProblems(job, bytes)).toEqual([]);
    expect(sizeProblems(job, bytes - 1)).toEqual([
      {
        field: 'job',
        problem: `has ${bytes} bytes as JSON, and at most ${bytes - 1} are taken; move scripts and data into a ConfigMap or an image, or ask an administrator to raise --max-job-bytes`,
      },
    ]);
  });
});

describe('what a Job says about where it may run', () => {
  const long = 'x'.repeat(ESSENTIALS_BYTES_MAX);
  test.each<[string, ReturnType<typeof aHomeJob>]>([
    ['a node selector', withPod({ nodeSelector: { a: long } })],
    ['tolerations', withPod({ tolerations: [{ key: long }] })],
    ['the requests of containers', withPod({ initContainers: [{ name: 'first', resources: { requests: { [long]: '1' } } }] })],
    ['a wish for clusters', aHomeJob({ metadata: { annotations: { [CLUSTERS_ANNOTATION]: long } } })],
  ])('is bounded by itself: %s', (_what, job) => {
    const [problem, ...others] = sizeProblems(job, 1_000_000);
    expect(problem?.problem).toMatch(/^says 16\d+ bytes about where it may run, and at most 16384 are taken .*; say less$/);
    expect(others).toEqual([]);
  });

  test('is not what its pods are made of', () => {
    expect(
      sizeProblems(withPod({ containers: [{ name: 'main', image: long, args: [long], env: [{ name: 'A', value: long }] }] }), 1_000_000),
    ).toEqual([]);
  });
});
