import { expect, test } from 'vitest';
import type { ClusterConnection } from '../../../../../manager/cli/cluster-connection.ts';
import { CommandError } from '../../../../../manager/cli/command-error.ts';
import { namedJob } from '../../../../../manager/cli/jobs/operands.ts';
import { findJob, keyOf, noSuchJob, readJobs } from '../../../../../manager/cli/jobs/read-jobs.ts';
import { createKinds } from '../../../../../manager/work-kind/kinds.ts';
import { createKindsClient } from '../../../../../manager/work-kind/kinds-client.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import type { ObjectKey } from '../../../../../shared/api/kubernetes.ts';
import type { Resource } from '../../../../../shared/api/resources.ts';
import { ApiError } from '../../../../../shared/kube/api-error.ts';
import { aHomeJob } from '../../../../support/jobs.ts';
import { aCrew, aCrewKind } from '../../work-kind/described/described.ts';

const crew = aCrew({ spec: { policy: { suspend: true, managedBy: 'example.com/elsewhere' } } });
const refusal = (code: number, reason: string): ApiError =>
  new ApiError(code, { kind: 'Status', status: 'Failure', code, reason, message: 'no' });
/** A cluster with the Job team/sum and the crew team/argo; of other namespaces nothing may be read by users who are confined. */
function connection({ isConfined = false, mayList = true } = {}): ClusterConnection {
  const client = {
    get: async ({ plural }: Resource, { namespace, name }: ObjectKey) => {
      if (isConfined && namespace !== 'team') throw refusal(403, 'Forbidden');
      if (namespace === 'team' && plural === 'jobs' && name === 'sum') return aHomeJob({ metadata: { namespace, name } });
      if (namespace === 'team' && plural === 'crews' && name === 'argo') return structuredClone(crew);
      throw refusal(404, 'NotFound');
    },
    list: async ({ plural }: Resource) => {
      if (isConfined && plural === 'crews') throw refusal(403, 'Forbidden');
      const named = (name: string) => aHomeJob({ metadata: { namespace: 'team', name } });
      return { items: plural === 'jobs' ? [named('sum'), aHomeJob({ spec: { managedBy: 'x/y' } })] : [structuredClone(crew), aCrew()] };
    },
  } as unknown as ClusterConnection['client'];
  const others = [aCrewKind()];
  return {
    client,
    kind: JOB_KIND,
    kinds: async () => {
      if (!mayList) throw new CommandError('you may not list workkinds.switchyard.dev');
      return { client: createKindsClient(client, others) as typeof client, kind: createKinds(JOB_KIND, others) };
    },
  } as unknown as ClusterConnection;
}
const found = async (operand: string, options = {}): Promise<string> => {
  const { job, key } = await findJob(connection(options), namedJob(operand), 'team');
  return job === undefined ? `no ${key.namespace}/${key.name}` : `${keyOf(job)}, known as ${job.metadata.name}`;
};

test('what stands before the slash is a namespace where there is such a Job', async () => {
  expect([await found('sum'), await found('team/sum'), await found('job/sum')]).toEqual(Array(3).fill('team/sum, known as sum'));
  expect([await found('none'), await found('team/none')]).toEqual(['no team/none', 'no team/none']);
});

test.each(['crew/argo', 'crews/argo', 'Crew/argo', 'crews.example.com/argo'])('%s is an object of another kind', async (operand) => {
  for (const isConfined of [false, true])
    expect(await found(operand, { isConfined })).toBe('Crew team/argo, known as crews.example.com:argo');
});

test('one that is not there, and a kind that is not taken, are named', async () => {
  expect(await found('crew/none')).toBe('no team/crews.example.com:none');
  await expect(found('rafts.example.com/argo')).rejects.toThrow('JOB: the manager takes no kind rafts.example.com; it takes jobs, crews');
  const missing = async (operand: string): Promise<string> => noSuchJob(await findJob(connection(), namedJob(operand), 'team'));
  expect(await missing('crew/none')).toBe('there is no Crew none in namespace team');
  expect(await missing('none')).toBe('there is no Job none in namespace team');
  expect(await missing('raft/argo')).toBe('there is no Job argo in namespace raft, and raft is none of the kinds jobs, crews');
});

test('users who may not list WorkKinds find Jobs as before, and hear what they lack where a kind must be known', async () => {
  const mayList = false;
  expect([await found('team/sum', { mayList }), await found('elsewhere/none', { mayList })]).toEqual([
    'team/sum, known as sum',
    'no elsewhere/none',
  ]);
  await expect(found('crews.example.com/argo', { mayList })).rejects.toThrow('you may not list workkinds.switchyard.dev');
  await expect(found('elsewhere/sum', { mayList, isConfined: true })).rejects.toThrow(ApiError);
});

test('Jobs and objects of other kinds are read together, and written by the client that knows both', async () => {
  const choice = { namespace: 'team', everywhere: false, selector: undefined };
  const jobs = ['sum', 'crew/argo', 'crew/none'].map(namedJob);
  const read = await readJobs(connection(), { jobs, ...choice });
  expect(read.found.map(keyOf)).toEqual(['team/sum', 'Crew team/argo']);
  expect(read.missing).toEqual([{ job: 'Crew team/none', why: 'there is no such Crew' }]);
  expect(read.by.kind.others).toHaveLength(1);
});

test('a selector chooses objects of every kind that the manager runs, as far as the user may list them', async () => {
  const choice = { jobs: [], namespace: 'team', everywhere: false, selector: 'team=a' };
  const read = async (options = {}) => {
    const { found, unread } = await readJobs(connection(options), choice);
    return [found.map(keyOf), unread];
  };
  expect(await read()).toEqual([['team/sum', 'Crew team/argo'], []]);
  expect(await read({ isConfined: true })).toEqual([['team/sum'], ['no crews were looked at: no']]);
  expect(await read({ mayList: false })).toEqual([['team/sum'], []]);
});
