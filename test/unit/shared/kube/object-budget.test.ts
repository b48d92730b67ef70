import { expect, test } from 'vitest';
import { essentialsOfCopy } from '../../../../manager/work-kind/job/copy/copy-essentials.ts';
import { createObjectBudget, memoryOf } from '../../../../shared/kube/object-budget.ts';
import { aHomeJob } from '../../../support/jobs.ts';

test('room is given until it is all taken, and given again when some is returned', () => {
  const budget = createObjectBudget(100);
  expect(budget.add(60)).toBe(true);
  expect(budget.add(41)).toBe(false);
  expect(budget.add(40)).toBe(true);
  expect(budget.add(-60)).toBe(true);
  expect(budget.add(60)).toBe(true);
  expect(budget.add(1)).toBe(false);
});

test('text, fields and empty objects cost about what they take', () => {
  expect(memoryOf({ text: 'x'.repeat(1000) })).toBeGreaterThan(1000);
  expect(memoryOf({ text: 'x'.repeat(1000) })).toBeLessThan(2000);
  expect(memoryOf(Array.from({ length: 1000 }, () => ({})))).toBeGreaterThan(50_000);
});

test('ten thousand copies of 10 KiB fit into what one worker cluster has by default', () => {
  const env = Array.from({ length: 100 }, (_each, index) => ({ name: `VARIABLE_${index}`, value: 'x'.repeat(70) }));
  const containers = [{ name: 'main', image: 'registry.example/a/b:1', env, resources: { requests: { cpu: '1', memory: '1Gi' } } }];
  const condition = {
    type: 'Suspended',
    status: 'False',
    reason: 'JobResumed',
    message: 'Job resumed',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const job = aHomeJob({
    spec: { suspend: false, parallelism: 1, completions: 1, backoffLimit: 6, template: { spec: { containers, restartPolicy: 'Never' } } },
    status: { active: 1, ready: 1, startTime: '2026-01-01T00:00:00Z', uncountedTerminatedPods: {}, conditions: [condition] },
  });
  expect(JSON.stringify(job).length).toBeGreaterThan(10 * 1024);
  expect(10_000 * memoryOf(essentialsOfCopy(job, false))).toBeLessThan(32 * 1024 * 1024);
});
