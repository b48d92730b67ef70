import { describe, expect, test } from 'vitest';
import { type CarriedObjects, carryingWorkload, missingReference } from '../../../../../manager/admission/queues/carried-objects.ts';
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

const objects = (found: Readonly<Record<string, ReturnType<CarriedObjects['find']>>>): CarriedObjects => ({
  find: (_namespace, { kind, name }) => found[`${kind}/${name}`] ?? 'Missing',
  onChange: () => undefined,
});

test('a Workload carries the kinds to which its pods refer, as it or its queue says', () => {
  expect(carryingWorkload(workload(), ['ConfigMaps', 'Secrets']).carry).toEqual(['ConfigMaps', 'Secrets']);
  expect(carryingWorkload(workload({ references: [] }), ['Secrets']).carry).toBeUndefined();
  const references = [{ kind: 'Secret', name: 'token', optional: false }] as const;
  expect(carryingWorkload(workload({ references }), ['ConfigMaps', 'Secrets']).carry).toEqual(['Secrets']);
});

test('a Workload is held to the content of its first copy where its queue says so, and it carries anything', () => {
  expect(carryingWorkload(workload(), ['Secrets'], 'Admitted').carryContent).toBe('Admitted');
  expect(carryingWorkload(workload(), ['Secrets']).carryContent).toBeUndefined();
  expect(carryingWorkload(workload(), [], 'Admitted').carryContent).toBeUndefined();
});

describe('a Workload that carries objects waits', () => {
  const reason = (found: Parameters<typeof objects>[0], carry: Workload['carry'] = ['ConfigMaps', 'Secrets']): string | undefined =>
    missingReference(workload({ carry }), objects(found))?.message;

  test('for one that is missing, unless it is optional or of a kind that is not carried', () => {
    expect(reason({})).toMatch(/^configmap team\/settings does not exist; /);
    expect(reason({ 'ConfigMap/settings': 'Present' })).toBeUndefined();
    expect(reason({}, ['Secrets'])).toBeUndefined();
    expect(reason({}, [])).toBeUndefined();
  });

  test('where the namespace carries nothing, or cannot be listed, also for an optional one', () => {
    expect(reason({ 'ConfigMap/settings': 'Forbidden' })).toMatch(/add it to --carry-namespaces/);
    expect(reason({ 'ConfigMap/settings': 'Present', 'Secret/token': 'Unknown' })).toMatch(/cannot list Secrets of namespace team yet/);
  });

  test('for nothing where nobody knows what exists', () => {
    expect(missingReference(workload({ carry: ['ConfigMaps'] }), undefined)).toBeUndefined();
  });
});
