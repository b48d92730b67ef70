import { expect, test } from 'vitest';
import { wishesOf } from '../../../../manager/api/job-annotations.ts';
import { unmetPodFence } from '../../../../manager/api/unmet-wishes.ts';
import { aHomeJob } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const unmet = (annotations: Record<string, string>, restartPolicy = 'Never') => {
  const job = aHomeJob({ metadata: { annotations }, spec: { template: { spec: { restartPolicy, containers: [] } } } });
  return unmetPodFence(JOB_KIND.podFenceProblem(job), wishesOf(job)).map(({ name, problem }) => `${name} ${problem}`);
};
const ON = { 'switchyard.dev/pod-fence': 'on' };

test('a pod fence that is asked for, and cannot be, is refused with the field that stands against it', () => {
  expect(unmet(ON)).toEqual([]);
  expect(unmet(ON, 'OnFailure')).toEqual([
    'switchyard.dev/pod-fence is "on", and cannot be met: spec.template.spec.restartPolicy must be Never: a container that the pod fence has ended may not start again',
  ]);
  expect(unmet({ 'switchyard.dev/pod-fence': 'off' }, 'OnFailure')).toEqual([]);
  expect(unmet({}, 'OnFailure')).toEqual([]);
});

test('a pod fence for a Job that is not to be fenced is refused: nobody would renew its pods', () => {
  expect(unmet({ ...ON, 'switchyard.dev/fencing': 'off' })).toEqual([
    'switchyard.dev/pod-fence is "on", and annotation switchyard.dev/fencing is "off": pods are renewed only where they are fenced; remove one of the two',
  ]);
  expect(unmet({ ...ON, 'switchyard.dev/fencing': 'on' })).toEqual([]);
});
