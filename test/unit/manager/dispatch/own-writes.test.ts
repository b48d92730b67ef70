import { expect, test } from 'vitest';
import { createOwnWrites } from '../../../../manager/dispatch/own-writes.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { JOBS } from '../../../../shared/api/resources.ts';
import type { EventHandler, Informer } from '../../../../shared/kube/informer.ts';
import { aHomeJob } from '../../../support/jobs.ts';

const at = (resourceVersion: string, uid = 'u'): Job => aHomeJob({ metadata: { resourceVersion, uid } });

function anInformer() {
  let version = '10';
  const handlers: EventHandler<Job>[] = [];
  const informer: Informer<Job> = {
    resource: JOBS,
    addHandler: (handler) => handlers.push(handler),
    run: async () => undefined,
    hasSynced: () => true,
    waitForSync: async () => undefined,
    lastResourceVersion: () => version,
    catchUp: async () => undefined,
    lastHeardMs: () => 0,
    get: () => undefined,
    list: () => [],
    byIndex: () => [],
  };
  return {
    informer,
    sawVersion: (next: string) => {
      version = next;
    },
    sawDeletion(job: Job) {
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
  const { informer, sawDeletion } = anInformer();
  const own = createOwnWrites(informer);
  own.deleted('u');
  expect(own.isDeleted('u')).toBe(true);
  sawDeletion(at('14'));
  expect(own.isDeleted('u')).toBe(false);
});
