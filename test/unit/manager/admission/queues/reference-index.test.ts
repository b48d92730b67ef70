import { expect, test } from 'vitest';
import { createReferenceIndex } from '../../../../../manager/admission/queues/reference-index.ts';
import type { Workload } from '../../../../../manager/admission/workload/workload.ts';
import { waitingWorkload } from '../../../../support/waiting-workload.ts';

const workload = (parts: Partial<Workload> = {}): Workload =>
  waitingWorkload(
    'train',
    { cpu: '1' },
    {
      references: [
        { kind: 'ConfigMap', name: 'settings', optional: false },
        { kind: 'Secret', name: 'token', optional: true },
      ],
      ...parts,
    },
  );

test('the index finds pending Workloads by object and by namespace, and forgets those that are not pending', () => {
  const index = createReferenceIndex();
  index.set('team/train', workload());
  index.set('team/other', workload({ references: [{ kind: 'ConfigMap', name: 'other', optional: false }] }));
  index.set('team/none', workload({ references: [] }));
  expect(index.of('team', 'ConfigMap/settings')).toEqual(['team/train']);
  expect(index.of('team', undefined)).toEqual(['team/train', 'team/other']);
  expect(index.of('away', undefined)).toEqual([]);
  index.set('team/train', workload({ references: [{ kind: 'ConfigMap', name: 'other', optional: false }] }));
  expect(index.of('team', 'ConfigMap/settings')).toEqual([]);
  expect(index.of('team', 'ConfigMap/other').toSorted()).toEqual(['team/other', 'team/train']);
  index.set('away/train', workload({ namespace: 'away', references: [], needs: [{ kind: 'PersistentVolumeClaim', name: 'data' }] }));
  expect(index.of('away', 'PersistentVolumeClaim/data')).toEqual(['away/train']);
  expect(index.of(undefined, undefined).toSorted()).toEqual(['away/train', 'team/other', 'team/train']);
  expect([index.has('away', 'PersistentVolumeClaim/data'), index.has('team', 'PersistentVolumeClaim/data')]).toEqual([true, false]);
  index.set('team/train', undefined);
  index.set('team/other', undefined);
  expect(index.of('team', undefined)).toEqual([]);
});
