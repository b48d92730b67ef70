import { expect, test } from 'vitest';
import type { Pod } from '../../../../shared/api/kubernetes.ts';
import { viewPod } from '../../../../worker/job/pod-view.ts';
import { logRequest } from '../../../../worker/logs/log-request.ts';

test('the call for a log names the container that failed, and how much may come', () => {
  const containerStatuses = [
    { name: 'side', state: { terminated: { exitCode: 0 } } },
    { name: 'main', state: { terminated: { exitCode: 1 } } },
  ];
  const pod = {
    metadata: { name: 'sum-x', namespace: 'team', uid: 'u' },
    spec: { containers: [] },
    status: { phase: 'Failed', containerStatuses },
  };
  expect(logRequest(viewPod(pod as unknown as Pod, { onlyReplaceFailed: false }), 6400)).toEqual({
    path: '/api/v1/namespaces/team/pods/sum-x/log?container=main&tailLines=100&limitBytes=102400',
    bodyMaxBytes: 102400 + 1024,
  });
});
