import { expect, test } from 'vitest';
import { formatTaint, repellingTaint, tolerates } from '../../../../shared/kube/taints.ts';

test.each([
  [{ key: 'a', operator: 'Equal', value: 'x' }, { key: 'a', value: 'x', effect: 'NoSchedule' }, true],
  [{ key: 'a', value: 'x' }, { key: 'a', value: 'y', effect: 'NoSchedule' }, false],
  [{ key: 'a', operator: 'Exists' }, { key: 'a', value: 'y', effect: 'NoExecute' }, true],
  [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }, { key: 'a', effect: 'NoExecute' }, false],
  [{ operator: 'Exists' }, { key: 'anything', effect: 'NoSchedule' }, true],
  [{ operator: 'Equal' }, { key: 'anything', effect: 'NoSchedule' }, false],
  [{ key: 'gen', operator: 'Gt', value: '3' }, { key: 'gen', value: '4', effect: 'NoSchedule' }, true],
  [{ key: 'gen', operator: 'Gt', value: '4' }, { key: 'gen', value: '4', effect: 'NoSchedule' }, false],
  [{ key: 'gen', operator: 'Lt', value: '10' }, { key: 'gen', value: '9', effect: 'NoSchedule' }, true],
  [{ key: 'gen', operator: 'Lt', value: '10' }, { key: 'gen', value: 'new', effect: 'NoSchedule' }, false],
  [{ key: 'gen', operator: 'Lt', value: '10' }, { key: 'gen', value: '09', effect: 'NoSchedule' }, false],
])('the toleration %j of the taint %j: %s', (toleration, taint, tolerated) => {
  expect(tolerates(toleration, taint)).toBe(tolerated);
});

test('of the taints of a node the first repels that is no mere preference and that nothing tolerates', () => {
  const taints = [
    { key: 'slow', effect: 'PreferNoSchedule' },
    { key: 'gpu', effect: 'NoSchedule' },
    { key: 'spot', value: 'yes', effect: 'NoExecute' },
  ];
  expect(repellingTaint(taints, [])?.key).toBe('gpu');
  const gpu = { key: 'gpu', operator: 'Exists' };
  expect(repellingTaint(taints, [gpu])?.key).toBe('spot');
  expect(repellingTaint(taints, [gpu, { key: 'spot', value: 'yes', effect: 'NoExecute', tolerationSeconds: 60 }])).toBeUndefined();
  expect(taints.map(formatTaint)).toEqual(['slow:PreferNoSchedule', 'gpu:NoSchedule', 'spot=yes:NoExecute']);
});
