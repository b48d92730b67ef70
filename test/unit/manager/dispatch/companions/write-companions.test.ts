import { describe, expect, test } from 'vitest';
import type { Companion } from '../../../../../manager/dispatch/companions/plan-companions.ts';
import { writeCompanions } from '../../../../../manager/dispatch/companions/write-companions.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { ORIGIN_LABEL } from '../../../../../shared/api/names.ts';
import { JOBS } from '../../../../../shared/api/resources.ts';
import { ApiError } from '../../../../../shared/kube/api-error.ts';
import type { WriteClient } from '../../../../../shared/kube/client.ts';

const COPY = { metadata: { name: 'train', namespace: 'team', uid: 'copy-2' } } as Job;
const CONTENT = { immutable: true, data: { of: 'team' } } as const;
const COMPANION: Companion = {
  reference: { kind: 'ConfigMap', name: 'settings', optional: false },
  digest: '0123',
  object: { metadata: { name: 'settings-0123', namespace: 'team', labels: { [ORIGIN_LABEL]: 'm1' } }, ...CONTENT },
};

/** A cluster that has an object of that name already; `patches` are the bodies that were sent. */
function having(metadata: object, answered: object = metadata) {
  const patches: object[] = [];
  const client = {
    create: async () => {
      throw new ApiError(409, { reason: 'AlreadyExists', message: 'it exists' });
    },
    patch: async (_resource: unknown, _key: unknown, { body }: { body: object }) => {
      patches.push(body);
      return { metadata: patches.length === 1 ? metadata : answered, ...CONTENT };
    },
  };
  const write = () => writeCompanions(client as unknown as WriteClient, 'east', JOBS, COPY, [COMPANION], AbortSignal.timeout(60_000));
  return { write, patches };
}

const OURS = { name: 'settings-0123', namespace: 'team', uid: 'object-1', labels: { [ORIGIN_LABEL]: 'm1' } };

describe('an object of the same name and content', () => {
  test('that another copy has brought gets one more owner', async () => {
    const { write, patches } = having(OURS);
    expect(await write()).toBeUndefined();
    expect(patches).toEqual([
      [],
      { metadata: { uid: 'object-1', ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'copy-2' }] } },
    ]);
  });

  test('that somebody else has made is left alone: it would go with the copy', async () => {
    const { write, patches } = having({ ...OURS, labels: undefined });
    expect(await write()).toEqual({
      reason: 'NameTaken',
      message: 'cluster "east" has a ConfigMap team/settings-0123 that no copy has brought: delete it there',
    });
    expect(patches).toEqual([[]]);
  });

  test.each([
    ['before it is looked at', having({ ...OURS, deletionTimestamp: '2026-01-01T00:00:00Z' })],
    ['before it gets its owner', having(OURS, { ...OURS, deletionTimestamp: '2026-01-01T00:00:00Z' })],
  ])('that is deleted %s is written again after it has gone', async (_when, { write }) => {
    await expect(write()).rejects.toThrow('ConfigMap team/settings-0123 on cluster east is being deleted');
  });
});
