import { expect, test } from 'vitest';
import { aControlPlane, pod, PODS } from '../a-control-plane.ts';

test('a pod has no overhead but that of its runtime class', async () => {
  const { call } = await aControlPlane();
  const overhead = (name: string, more: object = {}) => {
    const body = pod(name) as { spec: object };
    return call('POST', PODS, { ...body, spec: { ...body.spec, overhead: { cpu: '1' }, ...more } });
  };
  const { status, body } = await overhead('p');
  expect([status, body['message']]).toEqual([
    403,
    'pods "p" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
  ]);
  expect((await overhead('q', { runtimeClassName: 'slow' })).status).toBe(201);
});
