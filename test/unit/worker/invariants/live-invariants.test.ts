import { expect, test } from 'vitest';
import { BROKEN_PROMISE } from '../../../../shared/runtime/invariant-watch.ts';
import { JOBS } from '../../../../shared/api/resources.ts';
import { createWorld, refusal } from '../worker-world.ts';

test('a pod that nobody can free of its finalizer, though its Job is gone, is told of', async () => {
  const world = await createWorld();
  await world.createJob({ parallelism: 1, completions: 1 });
  await world.pass();
  expect(await world.pods()).toHaveLength(1);
  world.fault = ({ method, path }) =>
    method === 'PATCH' && path.includes('/pods/') ? refusal(403, 'Forbidden', 'a webhook forbids it') : undefined;
  await world.admin.delete(JOBS, { namespace: 'ns', name: 'job' }, { propagationPolicy: 'Background' });
  const [pod] = await world.pods();
  await world.admin.delete(
    { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true },
    { namespace: 'ns', name: pod?.metadata.name ?? '' },
  );
  await world.pass(590);
  expect(await world.metric('switchyard_invariant_violations', { invariant: 'no_finalizers_left' })).toBe(0);
  await world.pass(60);
  expect(await world.metric('switchyard_invariant_violations', { invariant: 'no_finalizers_left' })).toBe(1);
  const dumps = world.warnings.filter(({ message }) => message === BROKEN_PROMISE).map(({ fields }) => fields);
  expect(dumps).toMatchObject([{ invariant: 'no_finalizers_left', seen: { metadata: { name: pod?.metadata.name } } }]);
  expect(Object.keys(await world.events()).filter((line) => line.includes('InvariantViolated'))).toHaveLength(1);
  world.fault = undefined;
  await world.pass(120);
  expect(await world.pods()).toEqual([]);
  expect(await world.metric('switchyard_invariant_violations', { invariant: 'no_finalizers_left' })).toBe(0);
  await world.stop();
});
