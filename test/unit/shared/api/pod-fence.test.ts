import { expect, test } from 'vitest';
import type { Pod } from '../../../../shared/api/kubernetes.ts';
import { hasPodFence, podRenewal, runningPodFence } from '../../../../shared/api/pod-fence.ts';

const pod = (name: string, state: object): Pick<Pod, 'spec' | 'status'> => ({
  spec: { containers: [], initContainers: [{ name }] },
  status: { initContainerStatuses: [{ name, image: '', imageID: '', ready: true, restartCount: 2, state }] },
});

test('a pod has a pod fence by the name of its sidecar, which runs or does not', () => {
  const runs = { running: { startedAt: '2026-01-01T00:00:00Z' } };
  expect([hasPodFence(pod('switchyard-pod-fence', runs)), runningPodFence(pod('switchyard-pod-fence', runs))]).toEqual([true, 2]);
  expect(runningPodFence(pod('switchyard-pod-fence', { waiting: { reason: 'PodInitializing' } }))).toBeUndefined();
  expect([hasPodFence(pod('proxy', runs)), runningPodFence(pod('proxy', runs))]).toEqual([false, undefined]);
});

test('a renewal names the start of the sidecar that it is for', () => {
  expect(podRenewal(2, 'word')).toBe('2/word');
});
