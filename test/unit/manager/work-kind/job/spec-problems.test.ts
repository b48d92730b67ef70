import { expect, test } from 'vitest';
import { specProblems } from '../../../../../manager/work-kind/job/spec-problems.ts';
import { aHomeJob } from '../../../../support/jobs.ts';

test('the spec of a Job has a pod template with lists of containers and volumes', () => {
  expect(specProblems(aHomeJob().spec)).toEqual([]);
  expect(specProblems({ template: { spec: { containers: null, volumes: null } } })).toEqual([]);
  const pods = [{ containers: 1 }, { volumes: {} }, { volumes: [null] }].map((spec) => ({ template: { spec } }));
  const fields = [undefined, {}, { template: {} }, ...pods].map((spec) => specProblems(spec)[0]?.field);
  expect(fields).toEqual([
    'spec',
    'spec.template',
    'spec.template.spec',
    'spec.template.spec.containers',
    'spec.template.spec.volumes',
    'spec.template.spec.volumes',
  ]);
});
