import { beforeEach, expect, test } from 'vitest';
import { aControlPlane, pod, PODS } from '../a-control-plane.ts';

const CLASSES = '/apis/node.k8s.io/v1/runtimeclasses';
type Spec = { overhead?: object; nodeSelector?: object; tolerations: { key: string }[] };
let call: Awaited<ReturnType<typeof aControlPlane>>['call'];
beforeEach(async () => {
  ({ call } = await aControlPlane());
  const toleration = { key: 'sandbox', operator: 'Exists', effect: 'NoSchedule' };
  await call('POST', CLASSES, {
    metadata: { name: 'gvisor' },
    handler: 'runsc',
    overhead: { podFixed: { cpu: '250m' } },
    scheduling: { nodeSelector: { sandbox: 'yes' }, tolerations: [toleration] },
  });
  await call('POST', CLASSES, { metadata: { name: 'plain' }, handler: 'runc' });
});

const create = async (name: string, more: object) => {
  const body = pod(name) as { spec: object };
  const answer = await call('POST', PODS, { ...body, spec: { ...body.spec, ...more } });
  return { status: answer.status, message: answer.body['message'], spec: answer.body['spec'] as Spec };
};

test('a pod of a class that is not there is refused', async () => {
  expect(await create('a', { runtimeClassName: 'none' })).toMatchObject({
    status: 403,
    message: 'pods "a" is forbidden: pod rejected: RuntimeClass "none" not found',
  });
});

test('a pod gets the overhead, the node selector and the tolerations of its class', async () => {
  const { status, spec } = await create('a', { runtimeClassName: 'gvisor', nodeSelector: { disk: 'ssd' } });
  expect(status).toBe(201);
  expect(spec).toMatchObject({ overhead: { cpu: '250m' }, nodeSelector: { disk: 'ssd', sandbox: 'yes' } });
  expect(spec.tolerations.map(({ key }) => key)).toEqual(['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable', 'sandbox']);
});

test('a toleration that covers the one of the class stays alone', async () => {
  const { spec } = await create('a', { runtimeClassName: 'gvisor', tolerations: [{ key: 'sandbox', operator: 'Exists' }] });
  expect(spec.tolerations.filter(({ key }) => key === 'sandbox')).toEqual([{ key: 'sandbox', operator: 'Exists' }]);
});

test.each([
  [{ runtimeClassName: 'gvisor', overhead: { cpu: '1' } }, "Pod's Overhead doesn't match RuntimeClass's defined Overhead"],
  [{ runtimeClassName: 'plain', overhead: { cpu: '1' } }, 'Pod Overhead set without corresponding RuntimeClass defined Overhead'],
  [{ overhead: { cpu: '1' } }, 'Pod Overhead set without corresponding RuntimeClass defined Overhead'],
])('a pod has no overhead but that of its class: %j', async (spec, why) => {
  expect(await create('a', spec)).toMatchObject({ status: 403, message: `pods "a" is forbidden: pod rejected: ${why}` });
});

test('a pod that selects other nodes than its class is refused', async () => {
  expect(await create('a', { runtimeClassName: 'gvisor', nodeSelector: { sandbox: 'no' } })).toMatchObject({
    status: 403,
    message: 'pods "a" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[sandbox] = yes; pod.spec.nodeSelector[sandbox] = no',
  });
});

test('a class is refused for an overhead, a selector or tolerations that no pod could have', async () => {
  const { status, body } = await call('POST', CLASSES, {
    metadata: { name: 'bad' },
    handler: 'runsc',
    overhead: { podFixed: { cpu: '-1' } },
    scheduling: {
      nodeSelector: { 'a b': 'c' },
      tolerations: [
        { key: 'a', operator: 'Exists' },
        { key: 'a', operator: 'Exists' },
      ],
    },
  });
  const { causes } = body['details'] as { causes: { field: string }[] };
  expect([status, causes.map(({ field }) => field)]).toEqual([
    422,
    ['overhead.limits[cpu]', 'scheduling.nodeSelector', 'scheduling.tolerations[1]'],
  ]);
});
