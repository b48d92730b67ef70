import { KeyObject } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { recordKeys } from '../../../../manager/process/record-key.ts';
import type { RecordKey, RecordKeys } from '../../../../manager/api/record-seal.ts';
import { ADMISSION_ANNOTATION } from '../../../../shared/api/names.ts';
import { JOBS, NAMESPACES, SECRETS } from '../../../../shared/api/resources.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { fencedClient } from '../../../../shared/kube/fenced-client.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { startCluster } from '../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { aHomeJob, sealedFor } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const SECRET = { namespace: 'system', name: 'record-key' };
const random = (letter: string): string => Buffer.alloc(32, letter).toString('base64');

type KeyBytes = { readonly current: Uint8Array; readonly others: readonly Uint8Array[] };
const bytesOf = ({ current, others }: RecordKeys): KeyBytes => {
  const exported = (key: RecordKey): Uint8Array => (key instanceof KeyObject ? key.export() : key);
  return { current: exported(current), others: others.map(exported) };
};

async function aWorld() {
  const clock = new FakeClock();
  const { client } = await startCluster(clock);
  for (const name of ['system', 'team']) await client.create(NAMESPACES, { metadata: { name } });
  const problems: string[] = [];
  const start = (over: KubeClient = client): { readonly keys: Promise<KeyBytes | undefined>; found(): KeyBytes | undefined } => {
    let found: KeyBytes | undefined;
    const onMissing = (problem: string) => problems.push(problem);
    const deps = { kind: JOB_KIND, client: over, secret: SECRET, origin: 'm1', onMissing, clock, log: silentLogger };
    const keys = recordKeys(deps, new AbortController().signal).then((each) => (found = each && bytesOf(each)));
    return { keys, found: () => found };
  };
  return { clock, client, problems, start };
}
const aSealedJob = (parts: Parameters<typeof aHomeJob>[0] = {}) => {
  const { metadata, spec } = aHomeJob(parts);
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _created, generation: _generation, ...rest } = metadata;
  const { selector: _selector, template, ...others } = spec;
  const annotations = { [ADMISSION_ANNOTATION]: sealedFor(aHomeJob()) };
  return { metadata: { ...rest, annotations }, spec: { ...others, template: { spec: template.spec } } } as never;
};

describe('the key of admission records', () => {
  test('is made where the Secret is absent, and found by whoever comes next', async () => {
    const { client, start } = await aWorld();
    const made = await start().keys;
    expect(made?.current.length).toBe(32);
    const { metadata, data } = await client.get(SECRETS, SECRET);
    expect([Object.keys(data ?? {}), metadata.annotations]).toEqual([['current'], { 'switchyard.dev/manager-id': 'm1' }]);
    expect(await start().keys).toEqual(made);
  });

  test('is the same for two managers that start at once', async () => {
    const { start } = await aWorld();
    const [one, other] = await Promise.all([start().keys, start().keys]);
    expect(one).toEqual(other);
  });

  test('is made by the next manager where the one before died after it had created the Secret', async () => {
    const { client, clock, start } = await aWorld();
    const over = fencedClient(client, new AbortController().signal);
    const patch: KubeClient['patch'] = (resource, key, body, options) =>
      body.type === 'apply' ? client.patch(resource, key, body, options) : new Promise(() => undefined);
    const dead = start({ ...over, patch });
    await clock.advance(1_000);
    expect([dead.found(), (await client.get(SECRETS, SECRET)).data]).toEqual([undefined, undefined]);
    expect((await start().keys)?.current.length).toBe(32);
  });

  test('named current seals, the others are accepted', async () => {
    const { client, start } = await aWorld();
    await client.create(SECRETS, { metadata: SECRET, data: { current: random('b'), previous: random('a') } });
    expect(await start().keys).toEqual({ current: Buffer.alloc(32, 'b'), others: [Buffer.alloc(32, 'a')] });
  });

  test('is not made anew while a Job carries a sealed record: that says what to do, and goes on when it is done', async () => {
    const { client, clock, problems, start } = await aWorld();
    await client.create(JOBS, aSealedJob());
    const started = start();
    await clock.advance(6_000);
    expect(started.found()).toBeUndefined();
    expect(problems.at(-1)).toBe(
      'Secret system/record-key with the key of admission records is gone, and Jobs are sealed with it (team/sum): restore the Secret, or create an empty one to have all Jobs suspended and admitted anew',
    );
    await client.create(SECRETS, { metadata: SECRET });
    await clock.advance(6_000);
    expect(started.found()?.current.length).toBe(32);
  });

  test('is made while other controllers’ Jobs carry such an annotation', async () => {
    const { client, start } = await aWorld();
    await client.create(JOBS, aSealedJob({ spec: { managedBy: 'example.com/other' } }));
    expect((await start().keys)?.current.length).toBe(32);
  });

  test.each([
    [
      { current: Buffer.from('short').toString('base64') },
      'key "current" of Secret system/record-key has 5 bytes; write at least 32 random ones',
    ],
    [{ next: random('a') }, 'Secret system/record-key has no key "current"; name the one that shall seal admission records so'],
  ])('that cannot be used is told without repeating it: %j', async (data, problem) => {
    const { client, clock, problems, start } = await aWorld();
    await client.create(SECRETS, { metadata: SECRET, data });
    const started = start();
    await clock.advance(1_000);
    expect([started.found(), problems.at(-1)]).toEqual([undefined, problem]);
  });

  test('is asked for again while the API server does not answer', async () => {
    const { client, clock, problems, start } = await aWorld();
    let failures = 2;
    const get: KubeClient['get'] = (...call) => (failures-- > 0 ? Promise.reject(new Error('gone')) : client.get(...call));
    const over = fencedClient(client, new AbortController().signal);
    const started = start({ ...over, get });
    await clock.advance(1_000);
    expect([started.found(), problems.at(-1)]).toEqual([
      undefined,
      'Secret system/record-key with the key of admission records cannot be read or written',
    ]);
    await clock.advance(11_000);
    expect(started.found()?.current.length).toBe(32);
  });
});
