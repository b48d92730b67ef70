import { expect, test } from 'vitest';
import { oneJob } from '../../../../../manager/cli/run/one-job.ts';

const BARE = {
  namespace: 'team',
  queue: 'main',
  image: 'busybox',
  words: [],
  name: undefined,
  requests: undefined,
  env: undefined,
  pods: 1,
};

test('a Job of one container fails with the first pod that fails, by a rule of exit codes', () => {
  expect(oneJob(BARE)).toEqual({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      namespace: 'team',
      generateName: 'run-',
      labels: { 'switchyard.dev/queue-name': 'main', 'switchyard.dev/keep-logs': 'All' },
    },
    spec: {
      parallelism: 1,
      completions: 1,
      backoffLimit: 0,
      podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'NotIn', values: [0] } }] },
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } },
    },
  });
});

test('it has what else was asked for', () => {
  const { metadata, spec } = oneJob({
    ...BARE,
    name: 'n',
    words: ['sh', '-c', 'x'],
    requests: { cpu: '1' },
    env: { A: 'b' },
    pods: 3,
  });
  expect(metadata).toMatchObject({ name: 'n' });
  expect(spec).toMatchObject({
    parallelism: 3,
    completions: 3,
    template: {
      spec: { containers: [{ command: ['sh', '-c', 'x'], resources: { requests: { cpu: '1' } }, env: [{ name: 'A', value: 'b' }] }] },
    },
  });
});
