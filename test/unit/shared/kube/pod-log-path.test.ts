import { expect, test } from 'vitest';
import { podLogPath } from '../../../../shared/kube/pod-log-path.ts';

test('the path of a log names its container, and which part of it is meant', () => {
  const key = { namespace: 'team', name: 'sum-x' };
  expect(podLogPath(key, {})).toBe('/api/v1/namespaces/team/pods/sum-x/log');
  expect(podLogPath(key, { follow: false, timestamps: false, tailLines: undefined })).toBe('/api/v1/namespaces/team/pods/sum-x/log');
  expect(podLogPath(key, { container: 'main', follow: true, timestamps: true, sinceTime: '2026-01-01T00:00:00Z' })).toBe(
    '/api/v1/namespaces/team/pods/sum-x/log?container=main&sinceTime=2026-01-01T00%3A00%3A00Z&follow=true&timestamps=true',
  );
  expect(podLogPath(key, { tailLines: 0, limitBytes: 10 })).toBe('/api/v1/namespaces/team/pods/sum-x/log?tailLines=0&limitBytes=10');
});
