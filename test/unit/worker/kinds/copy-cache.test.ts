import { expect, test } from 'vitest';
import { isSuspendedByWorker } from '../../../../shared/api/fenced-kinds.ts';
import { compactCopy, copyIndexers, OF_ORIGIN, OF_ORIGINAL } from '../../../../worker/kinds/copy-cache.ts';

const KIND = { suspend: ['spec', 'policy', 'suspend'] };
const env = [
  { name: 'SWITCHYARD_EPOCH', value: '1' },
  { name: 'SWITCHYARD_JOB', value: 'team/train' },
  { name: 'SWITCHYARD_JOB_UID', value: 'original' },
  { name: 'SWITCHYARD_MANAGER', value: 'home' },
];
const identity = { namespace: 'team', name: 'train', uid: 'u', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' };
const template = { spec: { containers: [{ name: 'main', env }] } };

test('of a copy is kept whose it is, by its pod templates wherever they stand, and whether it is suspended', () => {
  const trimmed = compactCopy(KIND, {
    metadata: {
      ...identity,
      labels: { 'switchyard.dev/origin': 'forged', team: 'a' },
      annotations: {
        'switchyard.dev/fencing': 'off',
        'switchyard.dev/fenced': '2026-01-01T00:00:00Z',
        'switchyard.dev/origin-uid': 'forged',
        more: 'x',
      },
    },
    spec: { policy: { suspend: true }, groups: [{ name: 'deck' }, { pods: [{ template }] }], more: 'x' },
    status: { phase: 'Running' },
  });
  expect(trimmed).toEqual({
    metadata: {
      ...identity,
      labels: { 'switchyard.dev/origin': 'home' },
      annotations: {
        'switchyard.dev/origin-uid': 'original',
        'switchyard.dev/fencing': 'off',
        'switchyard.dev/fenced': '2026-01-01T00:00:00Z',
      },
    },
    spec: { policy: { suspend: true } },
  });
  expect(isSuspendedByWorker(trimmed)).toBe(true);
  expect([copyIndexers[OF_ORIGIN]?.(trimmed), copyIndexers[OF_ORIGINAL]?.(trimmed)]).toEqual([['home'], ['original']]);
});

test('where the templates say nothing, label and annotation count', () => {
  const trimmed = compactCopy(KIND, {
    metadata: { ...identity, labels: { 'switchyard.dev/origin': 'home' }, annotations: { 'switchyard.dev/origin-uid': 'original' } },
    spec: {},
  });
  expect(trimmed.metadata).toMatchObject({
    labels: { 'switchyard.dev/origin': 'home' },
    annotations: { 'switchyard.dev/origin-uid': 'original' },
  });
  expect([trimmed.spec, isSuspendedByWorker(trimmed)]).toEqual([{ policy: { suspend: false } }, false]);
});

test('what is no copy is kept by its name alone, and under no index', () => {
  const trimmed = compactCopy(KIND, { metadata: { ...identity, labels: { a: 'b' } }, spec: { policy: {} } });
  expect(trimmed).toEqual({ metadata: identity });
  expect([copyIndexers[OF_ORIGIN]?.(trimmed), copyIndexers[OF_ORIGINAL]?.(trimmed)]).toEqual([[], []]);
});
