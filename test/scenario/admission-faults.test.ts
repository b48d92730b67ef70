/** Goal: whatever happens to a write, quota is neither exceeded nor lost, and the Job is admitted in the end. */
import { afterEach, expect, test } from 'vitest';
import { ApiError } from '../../shared/kube/api-error.ts';
import type { KubeClient, Patch } from '../../shared/kube/client.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { conditionOf, createAdmissionWorld, NAMESPACE, type AdmissionWorld } from './admission-world.ts';

let world: AdmissionWorld;
afterEach(() => world.close());

type Fault = (send: () => Promise<unknown>) => Promise<unknown>;

/** A client whose admission writes (patches of the main resource) go through the next fault of the list, if one is left. */
const withFaults =
  (faults: Fault[]) =>
  (client: KubeClient): KubeClient =>
    new Proxy(client, {
      get: (target, name) => {
        if (name !== 'patch') {
          const value: unknown = Reflect.get(target, name);
          return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        }
        return (...parameters: [typeof JOBS, { namespace: string; name: string }, Patch]) => {
          const send = () => target.patch(...parameters);
          return (faults.shift() ?? ((plainly) => plainly()))(send);
        };
      },
    });

const refuse = (code: number, reason: string): Promise<never> => Promise.reject(new ApiError(code, { reason, message: `${reason} it is` }));

async function oneCpu(faults: Fault[]): Promise<void> {
  world = await createAdmissionWorld({ wrap: withFaults(faults) });
  await world.flavor('default');
  await world.queue('main', { cpu: '1' });
  await world.cluster('eu-1');
}

test('a write that was carried out though its answer was lost is not counted twice', async () => {
  const lost: Fault = async (send) => {
    await send();
    throw new Error('socket hang up');
  };
  await oneCpu([lost]);
  await world.job('a');
  await world.job('b');
  await world.settle(5_000);
  expect(await world.running()).toEqual(['a']);
  await world.finish('a');
  await world.settle(1_000);
  expect(await world.running()).toEqual(['b']);
});

test('a write that never arrived is sent again, and meanwhile nobody else gets its quota', async () => {
  await oneCpu([() => Promise.reject(new Error('connect ECONNREFUSED')), () => refuse(503, 'ServiceUnavailable')]);
  await world.job('a');
  await world.settle();
  await world.job('b');
  await world.settle(100);
  expect(await world.running()).toEqual([]);
  await world.settle(5_000);
  expect(await world.running()).toEqual(['a']);
});

test('a Job that changed while it was being admitted is admitted in its new form', async () => {
  const body = { metadata: { annotations: { note: 'changed' } } };
  const changeFirst: Fault = async (send) => {
    await world.client.patch(JOBS, { namespace: NAMESPACE, name: 'a' }, { type: 'merge', body });
    return send();
  };
  await oneCpu([changeFirst]);
  await world.job('a');
  await world.settle(1_000);
  expect(await world.running()).toEqual(['a']);
  expect((await world.getJob('a')).metadata.annotations?.['note']).toBe('changed');
});

test('a Job that is deleted while it is being admitted gives its quota to the next', async () => {
  const removeFirst: Fault = async (send) => {
    await world.client.delete(JOBS, { namespace: NAMESPACE, name: 'a' }, { propagationPolicy: 'Background' });
    return send();
  };
  await oneCpu([removeFirst]);
  await world.job('a');
  await world.job('b');
  await world.settle(1_000);
  expect(await world.running()).toEqual(['b']);
});

test('an admission that the API server refuses lets others go first, says why, and is tried again', async () => {
  await oneCpu([() => refuse(403, 'Forbidden')]);
  await world.job('a');
  await world.job('b');
  await world.settle(400);
  expect(await world.running()).toEqual(['b']);
  await world.finish('b');
  await world.settle(2_000);
  expect(await world.running()).toEqual(['a']);
});

test('a lasting refusal is told to the Job', async () => {
  await oneCpu(Array.from({ length: 10 }, () => () => refuse(403, 'Forbidden')));
  await world.job('a');
  await world.settle(3_000);
  const job = await world.getJob('a');
  expect(conditionOf(job, 'QuotaReserved')).toMatchObject({ status: 'False', reason: 'AdmissionRefused', message: 'Forbidden it is' });
});
