import { expect, test } from 'vitest';
import { isWithoutWorker, workerAbsence, type WorkerFinding } from '../../../../../manager/dispatch/cluster/worker-finding.ts';

const announced = (pulse: 'Beating' | 'Unproven' | 'Silent' | 'Stopped', controllerName = 'switchyard.dev/worker'): WorkerFinding => ({
  kind: 'Announced',
  where: 'leases/worker',
  pulse,
  worker: { name: 'pod-1', version: '1', controllerName, fenceAfterSeconds: 60 },
});

test.each<[string, WorkerFinding, RegExp]>([
  ['has no worker', { kind: 'None', where: 'leases/worker', mayStart: false }, /Lease leases\/worker: install chart switchyard-worker/],
  [
    'has a worker that runs other Jobs',
    { kind: 'Other', jobController: 'a', worker: { name: 'pod-1', version: '1', controllerName: 'b', fenceAfterSeconds: 0 } },
    /runs the Jobs of b, and no copy, whose jobController is a: make spec.jobController/,
  ],
  ['has a worker that died', announced('Silent'), /"pod-1" does not renew its Lease: is it running\?$/],
  ['had a worker that has stopped', announced('Stopped'), /^the worker has stopped$/],
  [
    'had a worker in place of the built-in controller',
    announced('Stopped', 'kubernetes.io/job-controller'),
    /if the built-in Job controller runs the Jobs again, delete Lease leases\/worker$/,
  ],
])('a cluster that %s says what is missing, and what to do', (_name, finding, words) => {
  expect(isWithoutWorker(finding)).toBe(true);
  expect(workerAbsence(finding)).toMatch(words);
});

test.each<[string, WorkerFinding]>([
  ['whose worker renews its Lease', announced('Beating')],
  ['whose worker is yet to renew it', announced('Unproven')],
  ['that is out of reach', { kind: 'OutOfSight' }],
  ['where the built-in Job controller runs the copies', { kind: 'BuiltIn' }],
])('a cluster %s lacks none', (_name, finding) => {
  expect(isWithoutWorker(finding)).toBe(false);
  expect(workerAbsence(finding)).toBeUndefined();
});
