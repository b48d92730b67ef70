import { afterEach, beforeEach, expect, test } from 'vitest';
import { createObjectInquiries, type ObjectInquiries } from '../../../../../manager/dispatch/connection/object-inquiries.ts';
import { MISSING_OBJECTS_MAX, type NeededObject } from '../../../../../manager/api/needed-objects.ts';
import { ApiError } from '../../../../../shared/kube/api-error.ts';
import type { KubeObject, ObjectKey } from '../../../../../shared/api/kubernetes.ts';
import type { Resource } from '../../../../../shared/api/resources.ts';
import type { ReadClient } from '../../../../../shared/kube/client.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const claim = (name: string): NeededObject => ({ kind: 'PersistentVolumeClaim', name });
const DATA = claim('data');

let clock: FakeClock;
let inquiries: ObjectInquiries;
let stop: AbortController;
let running: Promise<void>;
/** When each object was asked for, in seconds. */
let asked: string[];
let changes: string[];
let isReady: boolean;
let needed: (namespace: string, key: string) => boolean;
let respond: (name: string, signal: AbortSignal | undefined) => Promise<void>;

const status = (code: number) => () => Promise.reject(new ApiError(code, { reason: code === 404 ? 'NotFound' : 'Forbidden', message: '' }));

beforeEach(() => {
  clock = new FakeClock();
  [asked, changes, isReady] = [[], [], true];
  needed = () => true;
  respond = () => Promise.resolve();
  const client: Pick<ReadClient, 'get'> = {
    async get<T extends KubeObject>(
      { plural }: Resource<T>,
      { namespace, name }: ObjectKey,
      options?: { signal?: AbortSignal },
    ): Promise<T> {
      asked.push(`${clock.monotonic() / 1000}: ${plural} ${namespace}/${name}`);
      await respond(name, options?.signal);
      return { metadata: { name } } as T;
    },
  };
  inquiries = createObjectInquiries({
    cluster: 'east',
    client,
    clock,
    log: silentLogger,
    metrics: { added: () => undefined, got: () => undefined, done: () => undefined, retried: () => undefined },
    isReady: () => isReady,
    waiters: {
      isNeeded: (namespace, key) => needed(namespace, key),
      changed: (namespace, key) => void changes.push(`${namespace}/${key}`),
    },
  });
  stop = new AbortController();
  running = inquiries.run(stop.signal);
});
afterEach(async () => {
  stop.abort();
  await running;
});

test('an object is asked for once, and again at intervals while a Job waits for it', async () => {
  expect(inquiries.answer('team', DATA)).toBe('Asked');
  expect(inquiries.answer('team', DATA)).toBe('Asked');
  await clock.advance(1);
  expect(inquiries.answer('team', DATA)).toBe('Present');
  expect(changes).toEqual(['team/PersistentVolumeClaim/data']);
  await clock.advance(125_000);
  expect(asked).toEqual([0, 60, 120].map((at) => `${at}: persistentvolumeclaims team/data`));
  needed = () => false;
  await clock.advance(600_000);
  expect(asked).toHaveLength(3);
  expect(inquiries.answer('team', DATA)).toBe('Asked');
});

test('an object that appears or disappears while a Job waits for it is noticed', async () => {
  respond = status(404);
  inquiries.answer('team', DATA);
  await clock.advance(1);
  expect(inquiries.answer('team', DATA)).toBe('Missing');
  expect(inquiries.missing()).toEqual(['PersistentVolumeClaim team/data']);
  respond = () => Promise.resolve();
  await clock.advance(10_000);
  expect(inquiries.answer('team', DATA)).toBe('Present');
  expect(inquiries.missing()).toEqual([]);
  respond = status(404);
  await clock.advance(60_000);
  expect(inquiries.answer('team', DATA)).toBe('Missing');
  expect(changes).toHaveLength(3);
});

test('where the manager may not look, nothing is known, and no further object of the kind is asked for until later', async () => {
  respond = status(403);
  inquiries.answer('team', DATA);
  await clock.advance(1);
  expect(inquiries.answer('team', DATA)).toBe('Unknown');
  inquiries.answer('team', claim('other'));
  await clock.advance(1);
  expect(inquiries.answer('team', claim('other'))).toBe('Unknown');
  expect(asked).toHaveLength(1);
  respond = () => Promise.resolve();
  await clock.advance(301_000);
  expect([DATA, claim('other')].map((each) => inquiries.answer('team', each))).toEqual(['Present', 'Present']);
});

test('a cluster that gives no answer holds up no Job: it does not say whether it has the object until it answers', async () => {
  respond = (_name, signal) => new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('no answer'))));
  for (let index = 0; index < 20; index++) inquiries.answer('team', claim(`claim-${index}`));
  await clock.advance(5_001);
  expect(inquiries.answer('team', claim('claim-19'))).toBe('Unanswered');
  respond = () => Promise.resolve();
  await clock.advance(30_000);
  expect(inquiries.answer('team', claim('claim-19'))).toBe('Present');
});

test('a cluster without contact is not asked, and keeps what it has said', async () => {
  inquiries.answer('team', DATA);
  await clock.advance(1);
  isReady = false;
  expect(inquiries.answer('team', claim('new'))).toBe('Unanswered');
  await clock.advance(120_000);
  expect(asked).toHaveLength(1);
  expect(inquiries.answer('team', DATA)).toBe('Present');
  isReady = true;
  expect(inquiries.answer('team', claim('new'))).toBe('Asked');
});

test('what a namespace asks for is bounded, and beyond that objects count as present', async () => {
  respond = status(404);
  const answers = Array.from({ length: 500 }, (_, index) => inquiries.answer('team', claim(`claim-${index}`)));
  expect(answers.filter((answer) => answer === 'Asked')).toHaveLength(200);
  expect(answers.at(-1)).toBe('Unknown');
  expect(inquiries.answer('other', DATA)).toBe('Asked');
  await clock.advance(30_000);
  expect(inquiries.answer('other', DATA)).toBe('Missing');
  expect(inquiries.missing()).toHaveLength(MISSING_OBJECTS_MAX);
});

test('questions that are repeated do not delay first ones', async () => {
  for (let space = 0; space < 9; space++) for (let index = 0; index < 200; index++) inquiries.answer(`n${space}`, claim(`claim-${index}`));
  await clock.advance(300_000);
  inquiries.answer('late', DATA);
  await clock.advance(200);
  expect(inquiries.answer('late', DATA)).toBe('Present');
});

test('once no Job needs a missing object, the status is to list it no longer', async () => {
  respond = status(404);
  inquiries.answer('team', DATA);
  await clock.advance(1);
  changes.length = 0;
  needed = () => false;
  await clock.advance(10_000);
  expect(changes).toEqual(['team/PersistentVolumeClaim/data']);
  expect(inquiries.missing()).toEqual([]);
});
