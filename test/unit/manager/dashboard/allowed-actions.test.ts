import { expect, test } from 'vitest';
import { actionsOnCluster, actionsOnJob } from '../../../../manager/dashboard/allowed-actions.ts';
import type { AccessAttributes } from '../../../../shared/kube/access-reviews.ts';

const ANN = { username: 'ann', groups: [] } as never;
const reader = (mayDo: (asked: string) => boolean) => ({
  refusal: async (_: unknown, asked: AccessAttributes) => {
    const { verb, group, resource, namespace, name } = 'resourceAttributes' in asked ? asked.resourceAttributes : expect.unreachable();
    return mayDo(`${verb} ${group}/${resource} ${namespace}/${name}`) ? undefined : ({ kind: 'Refused', status: 403, why: 'no' } as const);
  },
});

test('what somebody may do with a Job follows from what he may do with it by himself', async () => {
  const on = (...allowed: string[]) =>
    actionsOnJob(
      reader((asked) => allowed.includes(asked)),
      ANN,
      { namespace: 'team', name },
    );
  let name = 'sum';
  expect(await on()).toEqual([]);
  expect(await on('delete batch/jobs team/sum')).toEqual(['Cancel']);
  expect(await on('patch batch/jobs team/sum')).toEqual(['Hold', 'Release']);
  name = 'crews.example.com:sum';
  expect(await on('patch batch/jobs team/sum')).toEqual([]);
  expect(await on('patch example.com/crews team/sum')).toEqual(['Hold', 'Release']);
});

test('with a cluster all may be done by whoever may write it', async () => {
  expect(
    await actionsOnCluster(
      reader((asked) => asked === 'patch switchyard.dev/workerclusters /east'),
      ANN,
      'east',
    ),
  ).toEqual(['Cordon', 'Uncordon', 'Drain']);
  expect(
    await actionsOnCluster(
      reader(() => false),
      ANN,
      'east',
    ),
  ).toEqual([]);
});
