/** Goal: a pod with a pod fence is renewed while its manager, its worker and its API server are in reach, and not a moment longer. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Pod, PodStatus } from '../../../../shared/api/kubernetes.ts';
import { PODS } from '../../../../shared/api/resources.ts';
import { createWorld, refusal, SUCCEEDED, type World } from '../worker-world.ts';
import { BERLIN, CONTROLLER, FENCE, fenceScene } from './fence-scene.ts';

let world: World;
const { inContact, aCopy } = fenceScene(() => world);
beforeEach(async () => {
  world = await createWorld({ controllerName: CONTROLLER }, FENCE);
  await world.clock.advance(1_000);
  await inContact(20);
});
afterEach(() => world.stop());

const SIDECAR = { name: 'switchyard-pod-fence', image: 'fence:1', restartPolicy: 'Always' };
const template = (initContainers: object[]) => ({
  spec: { restartPolicy: 'Never', nodeName: 'node-1', initContainers: initContainers as never, containers: [{ name: 'main', image: 'i' }] },
});
const aFencedCopy = async (): Promise<Pod> => {
  await aCopy('job', { template: template([SIDECAR]) });
  await inContact(5);
  return thePod();
};
const thePod = async (): Promise<Pod> => (await world.pods())[0]!;
const renewal = async (): Promise<string | undefined> => (await thePod()).metadata.annotations?.['switchyard.dev/pod-fence-renewal'];
const sidecarRuns = (restartCount = 0): PodStatus => ({
  phase: 'Pending',
  initContainerStatuses: [
    { name: SIDECAR.name, image: '', imageID: '', ready: true, restartCount, state: { running: { startedAt: '2026-01-01T00:00:00Z' } } },
  ],
});
const renewals = (): number => world.calls.filter((call) => /^PATCH .*\/pods\/[^/]+$/.test(call)).length;

test('it is renewed as soon as its sidecar runs, and about every 24 s, each time by another word', async () => {
  const pod = await aFencedCopy();
  await inContact(60);
  expect([await renewal(), renewals()]).toEqual([undefined, 0]);
  await world.setPod(pod, sidecarRuns());
  await world.clock.advance(0);
  const first = await renewal();
  expect(first).toMatch(/^0\//);
  await inContact(25);
  expect(await renewal()).toMatch(/^0\//);
  expect(await renewal()).not.toBe(first);
  await inContact(240);
  expect(renewals()).toBe(12);
});

test('a sidecar that was started again is told so at once: what was written for an earlier start does not count for it', async () => {
  await world.setPod(await aFencedCopy(), sidecarRuns());
  await inContact(5);
  await world.setPod(await thePod(), sidecarRuns(1));
  await world.clock.advance(0);
  expect(await renewal()).toMatch(/^1\//);
});

test('a pod with a sidecar of the user alone is not renewed, and one that is being deleted no more', async () => {
  const [{ initContainerStatuses: [running] = [] }, proxy] = [sidecarRuns(), { ...SIDECAR, name: 'proxy' }];
  await aCopy('job', { template: template([proxy]) });
  await inContact(5);
  await world.setPod(await thePod(), { phase: 'Running', initContainerStatuses: [{ ...running!, name: proxy.name }] });
  await inContact(60);
  expect(renewals()).toBe(0);
  await aCopy('other', { template: template([SIDECAR]) });
  await inContact(5);
  const other = async (): Promise<Pod> => (await world.pods()).find(({ metadata }) => metadata.name.startsWith('other'))!;
  const fenced = await other();
  await world.setPod(fenced, sidecarRuns());
  await world.clock.advance(0);
  const before = (await other()).metadata.annotations;
  expect(before).toMatchObject({ 'switchyard.dev/pod-fence-renewal': expect.stringMatching(/^0\//) });
  await world.admin.delete(PODS, { namespace: 'ns', name: fenced.metadata.name }, { gracePeriodSeconds: 300 });
  await inContact(60);
  expect((await other()).metadata.annotations).toEqual(before);
});

test('its renewals cost the Job controller nothing: the Job is not looked at anew', async () => {
  await world.setPod(await aFencedCopy(), sidecarRuns());
  await inContact(30);
  const syncs = await world.metric('workqueue_adds_total', { name: 'job' });
  await inContact(240);
  expect(await world.metric('workqueue_adds_total', { name: 'job' })).toBe(syncs);
});

test('the manager is out of reach: the last renewal comes before the fence trips, and the next one once it has answered', async () => {
  await world.setPod(await aFencedCopy(), sidecarRuns());
  await inContact(5);
  // Its pods are not deleted, so that only the renewals are seen.
  world.fault = ({ method, path }) => (method === 'DELETE' && path.includes('/pods/') ? refusal(500, 'InternalError', 'busy') : undefined);
  await world.clock.advance(60_000);
  const [last, count] = [await renewal(), renewals()];
  await world.clock.advance(600_000);
  expect([await renewal(), renewals()]).toEqual([last, count]);
  await inContact(30);
  expect(await renewal()).not.toBe(last);
});

test('a worker that was started again renews nothing until the manager has answered it, and goes on with words of its own', async () => {
  await world.setPod(await aFencedCopy(), sidecarRuns());
  await inContact(5);
  const before = await renewal();
  await world.restart();
  await world.pass(40);
  expect(await renewal()).toBe(before);
  await inContact(30);
  expect(await renewal()).toMatch(/^0\//);
  expect(await renewal()).not.toBe(before);
});

test('a manager of which no Lease tells that it is in reach has none of its pods renewed', async () => {
  await aCopy('job', { template: template([SIDECAR]) }, { labels: { 'switchyard.dev/origin': 'paris' } });
  await inContact(5);
  await world.setPod(await thePod(), sidecarRuns());
  await inContact(60, BERLIN);
  expect(await renewal()).toBeUndefined();
});

test('a renewal that is refused for the moment is tried again; the pod of a Job that has ended is left alone', async () => {
  const pod = await aFencedCopy();
  world.fault = ({ method, path }) =>
    method === 'PATCH' && path.includes('/pods/') ? refusal(503, 'ServiceUnavailable', 'busy') : undefined;
  await world.setPod(pod, sidecarRuns());
  await inContact(5);
  expect(await renewal()).toBeUndefined();
  world.fault = undefined;
  await inContact(15);
  expect(await renewal()).toMatch(/^0\//);
  const ended = await renewal();
  await world.setPod(await thePod(), { ...SUCCEEDED, initContainerStatuses: [] });
  await inContact(60);
  expect((await world.pods()).map(({ metadata }) => metadata.annotations?.['switchyard.dev/pod-fence-renewal'])).toEqual([ended]);
});
