import { describe, expect, test } from 'vitest';
import { edited, type Edit } from '../../../../../manager/insight/world/edited-object.ts';

const NOW_MS = Date.parse('2026-01-02T00:00:00Z');
const queue = {
  metadata: { name: 'main' },
  spec: {
    cohortName: 'all',
    resourceGroups: [{ coveredResources: ['cpu'], flavors: [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: '4' }] }] }],
  },
};
const after = (object: object, edit: Edit) => edited(object as Record<string, unknown>, edit, '--flag', NOW_MS);
const quotaAfter = (amount: string): unknown => {
  const { spec } = after(queue, { field: 'quota', flavor: 'default', resource: 'cpu', amount }) as typeof queue;
  return spec.resourceGroups[0]?.flavors[0]?.resources[0]?.nominalQuota;
};

describe('an object with other fields', () => {
  test('quota is written anew, or counted from what there is, and is never below nothing', () => {
    expect([quotaAfter('40'), quotaAfter('+500m'), quotaAfter('-1'), quotaAfter('-9')]).toEqual(['40', '4500m', '3', '0']);
  });

  test('a flavor that the queue does not have is not made up, and an amount must be one', () => {
    expect(() => after(queue, { field: 'quota', flavor: 'spot', resource: 'cpu', amount: '1' })).toThrow('it has default (cpu)');
    expect(() => quotaAfter('+many')).toThrow('write an amount such as +8');
  });

  test('capacity counts from what the spec says, and else from what the nodes offer', () => {
    const cluster = { spec: { capacity: { memory: '1Gi' } }, status: { allocatable: { cpu: '8', memory: '4Gi' } } };
    const capacity = (resource: string, amount: string) =>
      (after(cluster, { field: 'capacity', resource, amount })['spec'] as { capacity: object }).capacity;
    expect(capacity('cpu', '+4')).toEqual({ memory: '1Gi', cpu: '12' });
    expect(capacity('memory', '+1Gi')).toEqual({ memory: '2Gi' });
    expect(() => capacity('nvidia.com/gpu', '+1')).toThrow('write the amount without a sign');
  });

  test('a queue leaves its cohort, or goes to another one', () => {
    expect(after(queue, { field: 'cohortName', cohort: '' })['spec']).not.toHaveProperty('cohortName');
    expect(after(queue, { field: 'cohortName', cohort: 'b' })['spec']).toMatchObject({ cohortName: 'b' });
  });

  test('a weight, a stop, a state and a loss stand where they belong', () => {
    expect(after(queue, { field: 'weight', weight: '3' })['spec']).toMatchObject({ fairSharing: { weight: '3' } });
    expect(after(queue, { field: 'stopPolicy', policy: 'Hold' })['spec']).toMatchObject({ stopPolicy: 'Hold', cohortName: 'all' });
    expect(after({}, { field: 'state', state: 'Draining' })['spec']).toEqual({ state: 'Draining' });
    expect(after({ status: { version: 'v1' } }, { field: 'lost' })['status']).toEqual({ version: 'v1', lostSince: '2026-01-02T00:00:00Z' });
  });

  test('a priority that is asked for by an annotation counts: a label would go before it', () => {
    const job = { metadata: { name: 'a', labels: { 'switchyard.dev/priority-class': 'high', app: 'x' } } };
    expect(after(job, { field: 'priority', priority: '-3' })['metadata']).toEqual({
      name: 'a',
      labels: { app: 'x' },
      annotations: { 'switchyard.dev/priority': '-3' },
    });
  });
});
