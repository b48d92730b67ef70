import { expect, test } from 'vitest';
import { clusterLabel } from '../../../../../manager/admission/controllers/cluster-label.ts';
import { CLUSTER_LABEL } from '../../../../../shared/api/names.ts';

test.each([
  ['a cluster', 'eu-1.example', 'eu-1.example'],
  ['a name that fits exactly', 'a'.repeat(63), 'a'.repeat(63)],
  ['a name that is too long for a label', 'a'.repeat(64), null],
  ['no cluster', undefined, null],
])('the label of a Job on %s', (_what, cluster, value) => {
  expect(clusterLabel(cluster)).toEqual({ [CLUSTER_LABEL]: value });
});
