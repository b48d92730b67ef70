import { expect, test } from 'vitest';
import { recordKeys } from '../../../../manager/process/record-key.ts';
import { claimRecords } from '../../../../manager/process/record-origin.ts';
import { ADMISSION_ANNOTATION, MANAGER_ID_ANNOTATION } from '../../../../shared/api/names.ts';
import { JOBS, NAMESPACES, SECRETS } from '../../../../shared/api/resources.ts';
import { ApiError } from '../../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { fencedClient } from '../../../../shared/kube/fenced-client.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { startCluster } from '../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { aHomeJob, sealedFor } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const SECRET = { namespace: 'system', name: 'record-key' };
const SUM = { namespace: 'team', name: 'sum' };

/** A home whose keys are of the manager `former`; undefined: of a release that did not say so. */
async function aWorld(former: string | undefined) {
  const clock = new FakeClock();
  const { client } = await startCluster(clock);
  for (const name of ['system', 'team']) await client.create(NAMESPACES, { metadata: { name } });
  const annotations = former === undefined ? {} : { [MANAGER_ID_ANNOTATION]: former };
  await client.create(SECRETS, { metadata: { ...SECRET, annotations }, data: { current: Buffer.alloc(32, 'a').toString('base64') } });
  const problems: string[] = [];
  const depsOf = (origin: string, over: KubeClient = client) => {
    const onMissing = (problem: string): unknown => problems.push(problem);
    return {
      kind: JOB_KIND,
      client: over,
      secret: SECRET,
      origin,
      onMissing: (problem: string) => void onMissing(problem),
      clock,
      log: silentLogger,
    };
  };
  const begin = async (origin: string, over?: KubeClient): Promise<{ is: 'waiting' | 'begun' }> => {
    const started = { is: 'waiting' as 'waiting' | 'begun' };
    const { signal } = new AbortController();
    void recordKeys(depsOf(origin, over), signal)
      .then(() => claimRecords(depsOf(origin, over), signal))
      .then((claimed) => claimed && (started.is = 'begun'));
    await clock.advance(6_000);
    return started;
  };
  const keptId = async (): Promise<string | undefined> => (await client.get(SECRETS, SECRET)).metadata.annotations?.[MANAGER_ID_ANNOTATION];
  return { clock, client, problems, depsOf, begin, keptId };
}

const aSealedJob = () => {
  const { metadata, spec } = aHomeJob();
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _created, generation: _generation, ...rest } = metadata;
  const { selector: _selector, template, ...others } = spec;
  const annotations = { [ADMISSION_ANNOTATION]: sealedFor(aHomeJob()) };
  return { metadata: { ...rest, annotations }, spec: { ...others, template: { spec: template.spec } } } as never;
};

test('a manager of another id than that of the records does not begin, says how to go on, and begins once that is done', async () => {
  const { clock, client, problems, begin, keptId } = await aWorld('m1');
  await client.create(JOBS, aSealedJob());
  const manager = await begin('m2');
  expect(manager.is).toBe('waiting');
  expect(problems.at(-1)).toBe(
    'this manager has the id "m2", and a manager of the id "m1" has sealed the records of Jobs (team/sum), whose copies have its mark: start it with ' +
      '--manager-id=m1; or let these Jobs end under that id first; or, where no copy of them is left on any worker cluster, set the annotation ' +
      'switchyard.dev/manager-id of Secret system/record-key to "m2"',
  );
  expect(await keptId()).toBe('m1');
  await client.delete(JOBS, SUM, { propagationPolicy: 'Background' });
  await clock.advance(6_000);
  expect([manager.is, await keptId()]).toEqual(['begun', 'm2']);
});

test.each([
  ['its own', 'm1'],
  ['none, as of a release before this one', undefined],
])('a manager takes over keys that say %s id, with Jobs that are sealed with them', async (_, former) => {
  const { client, problems, begin, keptId } = await aWorld(former);
  await client.create(JOBS, aSealedJob());
  expect([(await begin('m1')).is, await keptId(), problems]).toEqual(['begun', 'm1', []]);
});

test('the next manager finds out though the one before was only then elected, and had sealed nothing before', async () => {
  const { client, problems, depsOf, clock, keptId } = await aWorld('m1');
  const { signal } = new AbortController();
  await recordKeys(depsOf('m2'), signal);
  expect(await keptId()).toBe('m1');
  await client.create(JOBS, aSealedJob());
  let claimed = false;
  void claimRecords(depsOf('m2'), signal).then((each) => (claimed = each));
  await clock.advance(6_000);
  expect([claimed, problems.length > 0, await keptId()]).toEqual([false, true, 'm1']);
});

test('an id that may not be written down keeps nobody from beginning', async () => {
  const { client, begin, keptId } = await aWorld(undefined);
  const patch = () => Promise.reject(new ApiError(403, { reason: 'Forbidden', message: 'no' }));
  const over = { ...fencedClient(client, new AbortController().signal), patch };
  expect([(await begin('m1', over)).is, await keptId()]).toEqual(['begun', undefined]);
});
