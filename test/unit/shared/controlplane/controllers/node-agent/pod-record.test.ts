import { describe, expect, test } from 'vitest';
import {
  newRecord,
  NOT_LOCATED,
  restartPolicyOf,
  restoreEnded,
} from '../../../../../../shared/controlplane/controllers/node-agent/pod-record.ts';
import type { Pod } from '../../../../../../shared/api/kubernetes.ts';

const status = (state: object) => [{ name: 'main', image: 'i', imageID: '', ready: false, restartCount: 2, state }];

describe('the record of a container after the node agent has started again', () => {
  test('is that of the API where the container had ended', () => {
    const record = newRecord({ name: 'main', image: 'i' }, 'PodInitializing');
    restoreEnded(record, status({ terminated: { exitCode: 3, startedAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:00:05Z' } }));
    expect(record).toMatchObject({
      restarts: 2,
      state: { kind: 'terminated', exitCode: 3, reason: 'Error', startedAtMs: Date.parse('2026-01-01T00:00:00Z') },
    });
  });

  test('says of one that was running that it could not be located, and counts a restart', () => {
    const record = newRecord({ name: 'main', image: 'i' }, 'PodInitializing');
    restoreEnded(record, status({ running: {} }));
    expect(record).toMatchObject({ restarts: 3, last: NOT_LOCATED, state: { kind: 'waiting' } });
  });

  test('stays new where the API knows nothing of it', () => {
    const record = newRecord({ name: 'other' }, 'PodInitializing');
    restoreEnded(record, status({ running: {} }));
    expect(record).toEqual(newRecord({ name: 'other' }, 'PodInitializing'));
  });
});

test('a restart policy that is left out is Always', () => {
  const policyOf = (restartPolicy?: string) => restartPolicyOf({ spec: { restartPolicy } } as unknown as Pod);
  expect([policyOf(), policyOf('Never'), policyOf('OnFailure')]).toEqual(['Always', 'Never', 'OnFailure']);
});
