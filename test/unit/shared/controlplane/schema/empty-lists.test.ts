import { expect, test } from 'vitest';
import { builtInSchema } from '../../../../../shared/controlplane/schema/builtin.ts';
import { forgetEmptyLists } from '../../../../../shared/controlplane/schema/empty-lists.ts';

test('lists that are always there are null once stored without items, wherever they stand', () => {
  const schema = builtInSchema('batch', 'v1', 'Job');
  if (schema === undefined) throw new Error('no schema of Job');
  const job = {
    spec: {
      podFailurePolicy: { rules: [{ action: 'Count', onExitCodes: { operator: 'In', values: [] } }] },
      template: { spec: { containers: [] } },
    },
  };
  forgetEmptyLists(job, schema);
  expect(job.spec).toEqual({
    podFailurePolicy: { rules: [{ action: 'Count', onExitCodes: { operator: 'In', values: null } }] },
    template: { spec: { containers: null } },
  });
});
