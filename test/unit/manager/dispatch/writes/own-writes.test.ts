import { expect, test } from 'vitest';
import { createOwnWrites } from '../../../../../manager/dispatch/writes/own-writes.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { JOBS } from '../../../../../shared/api/resources.ts';
import type { EventHandler, Informer } from '../../../../../shared/kube/informer.ts';
import { aHomeJob } from '../../../../support/jobs.ts';

const at = (resourceVersion: string, uid = 'u'): Job => aHomeJob({ metadata: { resourceVersion, uid } });

function anInformer() {
  let version = '10';
  let cached: Job | undefined;
  const handlers: EventHandler<Job>[] = [];
  const informer: Informer<Job> = {
    resource: JOBS,
    addHandler: (handler) => handlers.push(handler),
    run: async () => undefined,
    hasSynced: () => true,
    waitForSync: async () => undefined,
    lastResourceVersion: () => version,
    catchUp: async () => undefined,
    willCatchUp: () => undefined,
    lastHeardMs: () => 0,
    get: () => cached,
    list: () => [],
    byIndex: () => [],
  };
  return {
    informer,
    sawVersion: (next: string) => {
      version = next;
    },
    saw(job: Job) {
      cached = job;
    },
    sawDeletion(job: Job) {
      cached = undefined;
      for (const handler of handlers) handler.deleted?.(job, false);
    },
  };
}

test('what we wrote stands in front of the cache until the cache has seen it', () => {
  const { informer, sawVersion } = anInformer();
  const own = createOwnWrites(informer);
  own.wrote('sum', at('12'));
  expect(own.overlay('sum', [])).toEqual([at('12')]);
  expect(own.overlay('sum', [at('9')])).toEqual([at('12')]);
  expect(own.overlay('sum', [at('9', 'other')])).toEqual([at('9', 'other'), at('12')]);
  expect(own.overlay('another', [at('9')])).toEqual([at('9')]);
  sawVersion('13');
  expect(own.overlay('sum', [at('13')])).toEqual([at('13')]);
});

test('what we wrote and somebody deleted unseen does not come back', () => {
  const { informer, sawVersion } = anInformer();
  const own = createOwnWrites(informer);
  own.wrote('sum', at('12'));
  sawVersion('100');
  expect(own.overlay('sum', [])).toEqual([]);
});

test('what we deleted counts as deleted until the cache has lost it', () => {
  const { informer, saw, sawDeletion } = anInformer();
  const own = createOwnWrites(informer);
  saw(at('12'));
  own.deleted('sum', at('12'));
  expect(own.isDeleted('u')).toBe(true);
  sawDeletion(at('14'));
  expect(own.isDeleted('u')).toBe(false);
});

test('what the cache lost before the deletion was answered is not remembered', () => {
  const { informer, saw, sawDeletion } = anInformer();
  const own = createOwnWrites(informer);
  saw(at('12'));
  sawDeletion(at('13'));
  own.deleted('sum', at('12'));
  expect(own.isDeleted('u')).toBe(false);
});

test('what came and went unseen counts as deleted only until the cache is past it', () => {
  const { informer, sawVersion } = anInformer();
  const own = createOwnWrites(informer);
  own.wrote('sum', at('12'));
  own.deleted('sum', at('12'));
  expect(own.isDeleted('u')).toBe(true);
  sawVersion('14');
  expect(own.overlay('sum', [])).toEqual([]);
  expect(own.isDeleted('u')).toBe(false);
});

test('a deletion of which the cache shows nothing from one sweep to the next counts no more: a restore has undone it', () => {
  const { informer, saw } = anInformer();
  const own = createOwnWrites(informer);
  saw(at('12'));
  own.deleted('sum', at('12'));
  expect(own.forgetUnseen()).toEqual([]);
  expect(own.isDeleted('u')).toBe(true);
  expect(own.forgetUnseen()).toEqual(['sum']);
  expect(own.isDeleted('u')).toBe(false);
  expect(own.forgetUnseen()).toEqual([]);
});

test('a deletion that the cache shows is under way counts for as long as that takes', () => {
  const { informer, saw } = anInformer();
  const own = createOwnWrites(informer);
  saw(at('12'));
  own.deleted('sum', at('12'));
  saw(aHomeJob({ metadata: { resourceVersion: '13', uid: 'u', deletionTimestamp: '2026-01-01T00:00:00Z' } }));
  for (let sweep = 0; sweep < 5; sweep++) expect(own.forgetUnseen()).toEqual([]);
  expect(own.isDeleted('u')).toBe(true);
});
