import { expect, test } from 'vitest';
import { withoutWorker } from '../../../../../manager/dispatch/mirror/without-worker.ts';
import { aCondition, anAdmittedJob } from '../../../../support/jobs.ts';
import { CLUSTER, copyOn } from '../decisions/mirror-situation.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const JOB = anAdmittedJob();
const DEAD = { ...CLUSTER, withoutWorker: 'the worker has stopped' };

test('a Job whose copy nobody runs names the cluster, the cause and both ways out', () => {
  const told = withoutWorker(JOB_KIND, DEAD, copyOn('eu-1', JOB, { status: { active: 1 } }));
  expect(told).toMatch(/^no worker runs it on cluster "eu-1": the worker has stopped\. It goes on once there is one; /);
  expect(told).toContain(`kubectl delete job -n ${JOB.metadata.namespace} ${JOB.metadata.name} --cascade=background`);
});

test.each([
  ['its cluster has a worker', CLUSTER, { status: { active: 1 } }],
  ['its cluster is not known', undefined, { status: { active: 1 } }],
  ['the copy has ended', DEAD, { status: { conditions: [aCondition('Complete')] } }],
  ['the copy rests', DEAD, { suspend: true, status: { conditions: [aCondition('Suspended')] } }],
])('it says nothing where %s', (_situation, view, parts) => {
  expect(withoutWorker(JOB_KIND, view, copyOn('eu-1', JOB, parts))).toBeUndefined();
});
