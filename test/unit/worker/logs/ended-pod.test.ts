import { describe, expect, test } from 'vitest';
import { parseEndedPods } from '../../../../shared/api/ended-pods.ts';
import type { Job, Pod } from '../../../../shared/api/kubernetes.ts';
import { ENDED_PODS_ANNOTATION, JOB_COMPLETION_INDEX, ORIGIN_LABEL } from '../../../../shared/api/names.ts';
import { endedPodOf, tellingContainer, withEndedPods } from '../../../../worker/logs/ended-pod.ts';
import { viewPod } from '../../../../worker/job/pod-view.ts';

const status = (name: string, exitCode?: number, more: object = {}) => ({
  name,
  state: exitCode === undefined ? { running: {} } : { terminated: { exitCode, ...more } },
});
const view = (podStatus: object, annotations: Record<string, string> = {}) =>
  viewPod(
    {
      metadata: { name: 'sum-x', namespace: 'team', uid: 'u', annotations },
      spec: { nodeName: 'n1', containers: [] },
      status: podStatus,
    } as unknown as Pod,
    {
      onlyReplaceFailed: false,
    },
  );

describe('what a pod ended with', () => {
  test('is that of the container that failed, one that comes before the others included', () => {
    const pod = view({
      phase: 'Failed',
      initContainerStatuses: [status('init', 2, { reason: 'Error' })],
      containerStatuses: [status('main')],
    });
    expect(tellingContainer(pod.pod)?.name).toBe('init');
    expect(endedPodOf(pod, undefined)).toEqual({
      pod: 'sum-x',
      phase: 'Failed',
      container: 'init',
      exitCode: 2,
      reason: 'Error',
      node: 'n1',
    });
  });

  test('is that of the first where none failed', () => {
    const pod = view({ phase: 'Succeeded', containerStatuses: [status('main', 0), status('side', 0)] }, { [JOB_COMPLETION_INDEX]: '3' });
    expect(endedPodOf(pod, undefined)).toEqual({ pod: 'sum-x', phase: 'Succeeded', index: 3, container: 'main', exitCode: 0, node: 'n1' });
  });

  test('names the reason of the pod before that of a container, and says when it was stopped', () => {
    const evicted = view({ phase: 'Failed', reason: 'Evicted', containerStatuses: [status('main', 137, { reason: 'Error' })] });
    expect(endedPodOf(evicted, { lastLine: 'last', kept: true })).toMatchObject({
      reason: 'Evicted',
      exitCode: 137,
      lastLine: 'last',
      tail: true,
    });
    expect(endedPodOf(view({ phase: 'Running', containerStatuses: [status('main')] }), undefined)).toMatchObject({ phase: 'Stopped' });
  });
});

describe('the annotation', () => {
  const job = (labels: Record<string, string>): Job =>
    ({ metadata: { name: 'sum', namespace: 'team', labels, annotations: { mine: '1' } }, spec: { template: {} } }) as unknown as Job;
  const pods = [view({ phase: 'Failed', containerStatuses: [status('main', 1)] })];

  test('stands on copies beside what is there', () => {
    const { annotations } = withEndedPods(job({ [ORIGIN_LABEL]: 'home' }), pods, () => undefined).metadata;
    expect(annotations?.['mine']).toBe('1');
    expect(parseEndedPods(annotations?.[ENDED_PODS_ANNOTATION])).toMatchObject([{ pod: 'sum-x', exitCode: 1 }]);
  });

  test('stands on no other Job, and a write that counts no pod changes nothing', () => {
    const [other, copy] = [job({}), job({ [ORIGIN_LABEL]: 'home' })];
    expect(withEndedPods(other, pods, () => undefined)).toBe(other);
    expect(withEndedPods(copy, [], () => undefined)).toBe(copy);
  });
});
