import { expect, test } from 'vitest';
import { isWordFor, readWorkKinds } from '../../../../manager/cli/work-kinds.ts';
import { JOBS } from '../../../../shared/api/resources.ts';
import { ApiError } from '../../../../shared/kube/api-error.ts';
import { CREW_SPEC } from '../work-kind/described/described.ts';

const kindsBy = async (answer: () => unknown): Promise<string[]> =>
  (await readWorkKinds({ list: async () => answer() as never })).map(({ resource }) => resource.kind);
const described = (spec: object = {}, accepted = 'True'): object => ({
  metadata: { name: 'crews.example.com' },
  spec: { ...CREW_SPEC, ...spec },
  status: { conditions: [{ type: 'Accepted', status: accepted }] },
});
const refusal = (code: number, reason: string) => () => {
  throw new ApiError(code, { kind: 'Status', status: 'Failure', code, reason, message: 'no' });
};

test('kinds are those that the manager has not refused, and that compile', async () => {
  expect(await kindsBy(() => ({ items: [described(), described({ kind: 'Raft' }, 'False'), described({ suspend: 'nowhere[' })] }))).toEqual(
    ['Crew'],
  );
  expect(await kindsBy(() => ({ items: [] }))).toEqual([]);
});

test('there are none where WorkKinds are not defined, and users who may not list them hear which right they lack', async () => {
  expect(await kindsBy(refusal(404, 'NotFound'))).toEqual([]);
  await expect(kindsBy(refusal(403, 'Forbidden'))).rejects.toThrow(/^you may not list workkinds.switchyard.dev, .*ask for a ClusterRole/);
  await expect(kindsBy(refusal(500, 'InternalError'))).rejects.toThrow(ApiError);
});

test('a kind has the words that kubectl knows', () => {
  const jobSets = { group: 'jobset.x-k8s.io', version: 'v1alpha2', plural: 'jobsets', kind: 'JobSet', namespaced: true };
  for (const word of ['jobset', 'JobSet', 'jobsets', 'jobset.jobset.x-k8s.io', 'jobsets.jobset.x-k8s.io'])
    expect(isWordFor(jobSets, word), word).toBe(true);
  for (const word of ['job', 'team', 'jobsets.example.com']) expect(isWordFor(jobSets, word), word).toBe(false);
});

test('the words of Jobs name no kind of another group that is called Job', () => {
  const volcanos = { group: 'batch.volcano.sh', plural: 'jobs', kind: 'Job' };
  for (const word of ['job', 'jobs', 'jobs.batch']) expect(isWordFor(volcanos, word), word).toBe(false);
  for (const word of ['job.batch.volcano.sh', 'jobs.batch.volcano.sh']) expect(isWordFor(volcanos, word), word).toBe(true);
  for (const word of ['job', 'jobs', 'jobs.batch']) expect(isWordFor(JOBS, word), word).toBe(true);
});
