import { expect, test } from 'vitest';
import { podSelector } from '../../../../../manager/work-kind/job/pod-selector.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';

test('pods are asked for by the label of Kubernetes, or where the Job selects them itself by its own', () => {
  const copy = (spec: object, uid = 'u-1'): Job => ({ metadata: { uid }, spec }) as unknown as Job;
  expect(podSelector(copy({}))).toBe('batch.kubernetes.io/controller-uid=u-1');
  expect(podSelector(copy({ manualSelector: true, selector: { matchLabels: { app: 'sum', 'x.y/z': 'v' } } }))).toBe('app=sum,x.y/z=v');
  for (const matchLabels of [
    undefined,
    {},
    'app',
    { a: 'x,b!=y' },
    { 'a b': 'x' },
    { a: 7 },
    Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`l${i}`, 'v'])),
  ])
    expect(podSelector(copy({ manualSelector: true, selector: { matchLabels } }))).toBeUndefined();
  expect(podSelector(copy({}, 'u,x'))).toBeUndefined();
});
