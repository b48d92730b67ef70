import { expect, test } from 'vitest';
import { specProblems } from '../../../../../manager/work-kind/job/spec-problems.ts';
import { aHomeJob } from '../../../../support/jobs.ts';

test('the spec of a Job has a pod template with lists of containers', () => {
  expect(specProblems(aHomeJob().spec)).toEqual([]);
  const fields = [undefined, {}, { template: {} }, { template: { spec: { containers: 1 } } }].map((spec) => specProblems(spec)[0]?.field);
  expect(fields).toEqual(['spec', 'spec.template', 'spec.template.spec', 'spec.template.spec.containers']);
});
