import { describe, expect, test } from 'vitest';
import { aControlPlane, pod, PODS, type Bench } from '../a-control-plane.ts';

const evict = (call: Bench['call'], deleteOptions: object) =>
  call('POST', `${PODS}/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }, deleteOptions });
const conditionsOf = async (call: Bench['call']): Promise<unknown> => {
  const { body } = await call('GET', `${PODS}/p`);
  return (body['status'] as { conditions?: unknown }).conditions;
};

describe('an eviction', () => {
  test.each<[string, object]>([
    ['another pod', { preconditions: { uid: 'other' } }],
    ['an older version', { preconditions: { resourceVersion: '1' } }],
  ])('of %s leaves no condition on the pod', async (_, deleteOptions) => {
    const { call } = await aControlPlane();
    await call('POST', PODS, pod('p'));
    expect((await evict(call, deleteOptions)).status).toBe(409);
    expect(await conditionsOf(call)).toBeUndefined();
  });
  test('of this very version goes through, although its condition makes another', async () => {
    const { call } = await aControlPlane();
    const { resourceVersion } = (await call('POST', PODS, pod('p'))).body.metadata;
    expect((await evict(call, { preconditions: { resourceVersion }, dryRun: ['All'] })).status).toBe(201);
    expect((await evict(call, { preconditions: { resourceVersion } })).status).toBe(201);
    expect((await call('GET', `${PODS}/p`)).status).toBe(404);
  });
});
