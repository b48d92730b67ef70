import { expect, test } from 'vitest';
import { report } from '../../../../../manager/cli/import-kueue/findings.ts';

test('the report has a line for each finding, the sums, and what holds of all', () => {
  const [first, second, third, sums, ...general] = report(2, [
    { kind: 'Lost', object: 'Cohort all', field: 'spec.fairSharing', says: 'is not done' },
    { kind: 'Skipped', object: 'Job x', says: 'is not Kueue’s' },
    { kind: 'Note', object: 'AdmissionCheck y', says: 'is not needed' },
  ]).split('\n');
  expect([first, second, third]).toEqual([
    'lost: Cohort all: spec.fairSharing: is not done',
    'skipped: Job x: is not Kueue’s',
    'note: AdmissionCheck y: is not needed',
  ]);
  expect(sums).toBe('2 objects written; 1 lost, 1 skipped, 1 notes');
  expect(general.join('\n')).toMatch(/^note: Jobs name their LocalQueue .*--kueue-queue-label .*config\.kueueQueueLabel/);
});

test('the report of nothing says nothing of Jobs', () => {
  expect(report(0, [])).toBe('0 objects written; 0 lost, 0 skipped, 0 notes\n');
});
