import { expect, test } from 'vitest';
import { changeInWords, jobChanges } from '../../../../manager/audit/job-changes.ts';
import {
  CLUSTERS_ANNOTATION,
  HOLD_ANNOTATION,
  PRIORITY_ANNOTATION,
  PRIORITY_CLASS_LABEL,
  QUEUE_NAME_LABEL,
} from '../../../../shared/api/names.ts';
import { aHomeJob } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const job = (annotations: Record<string, string>, labels: Record<string, string> = {}, suspend = true) =>
  aHomeJob({ metadata: { annotations, labels: { [QUEUE_NAME_LABEL]: 'main', ...labels } }, spec: { suspend } });
const told = (before: ReturnType<typeof job>, after: ReturnType<typeof job>): string[] =>
  jobChanges(JOB_KIND, before, after).map(changeInWords);

test('a Job is held and released by its annotation, whichever way that is taken back', () => {
  const [held, refused, free] = [job({ [HOLD_ANNOTATION]: 'true' }), job({ [HOLD_ANNOTATION]: 'false' }), job({})];
  expect([told(free, held), told(held, refused), told(held, free), told(free, refused), told(held, held)]).toEqual([
    ['hold'],
    ['release'],
    ['release'],
    [],
    [],
  ]);
});

test('what says where and when it goes is told with its new value, also where it is removed', () => {
  const before = job({ [CLUSTERS_ANNOTATION]: 'eu-1', [PRIORITY_ANNOTATION]: '5' });
  const after = job({ [CLUSTERS_ANNOTATION]: 'us-1,us-2' }, { [QUEUE_NAME_LABEL]: 'night', [PRIORITY_CLASS_LABEL]: 'high' });
  expect(told(before, after)).toEqual(['set-queue=night', 'set-clusters=us-1,us-2', 'set-priority', 'set-priority-class=high']);
  expect(told(job({}), job({ [CLUSTERS_ANNOTATION]: `a\n${'x'.repeat(1_000)}` }))[0]?.length).toBeLessThan(300);
});

test('to suspend is told, to be admitted is not, nor is what has another meaning', () => {
  expect(told(job({}, {}, false), job({}))).toEqual(['suspend']);
  expect(told(job({}), job({}, {}, false))).toEqual([]);
  expect(told(job({}), job({ note: 'x' }, { app: 'y' }))).toEqual([]);
});
