/** Goal: what commands count or look at is of every kind, by one list each, and what the user may not read is said. */
import { expect, test } from 'vitest';
import type { ClusterConnection } from '../../../../manager/cli/cluster-connection.ts';
import { CommandError } from '../../../../manager/cli/command-error.ts';
import { listWork } from '../../../../manager/cli/list-work.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';
import { createKinds } from '../../../../manager/work-kind/kinds.ts';
import { createKindsClient } from '../../../../manager/work-kind/kinds-client.ts';
import type { Resource } from '../../../../shared/api/resources.ts';
import { ApiError } from '../../../../shared/kube/api-error.ts';
import { aHomeJob } from '../../../support/jobs.ts';
import { aCrew, aCrewKind } from '../work-kind/described/described.ts';

const refusal = (code: number, reason: string): ApiError =>
  new ApiError(code, { kind: 'Status', status: 'Failure', code, reason, message: 'no' });

/** A cluster with a Job and a crew, of which some resources are refused with a code. */
function cluster({ refused = {}, mayList = true }: { refused?: Readonly<Record<string, number>>; mayList?: boolean } = {}) {
  const lists: string[] = [];
  const client = {
    list: async ({ plural }: Resource) => {
      lists.push(plural);
      const code = refused[plural];
      if (code !== undefined) throw refusal(code, code === 403 ? 'Forbidden' : 'NotFound');
      return { items: [plural === 'jobs' ? aHomeJob({ metadata: { namespace: 'team', name: 'sum' } }) : aCrew()] };
    },
  } as unknown as ClusterConnection['client'];
  const others = [aCrewKind()];
  const kinds = async (): Promise<Pick<ClusterConnection, 'client' | 'kind'>> => {
    if (!mayList) throw new CommandError('you may not list workkinds.switchyard.dev');
    return { client: createKindsClient(client, others) as typeof client, kind: createKinds(JOB_KIND, others) };
  };
  return { connection: { client, kind: JOB_KIND, kinds }, lists };
}

test('objects of every kind are listed once, each with its kind', async () => {
  const { connection, lists } = cluster();
  const { objects, ...rest } = await listWork(connection, { namespace: '' });
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(['Job sum', 'Crew crews.example.com:argo']);
  expect(rest).toMatchObject({ unread: [], unknownKinds: undefined });
  expect(lists).toEqual(['jobs', 'crews']);
});

test.each([403, 404])('a kind that is refused with %i is named, and the others are listed', async (code) => {
  const { connection } = cluster({ refused: { crews: code } });
  expect(await listWork(connection, {})).toMatchObject({ objects: [{ kind: 'Job' }], unread: [{ plural: 'crews', why: 'no' }] });
});

test('without the right to list WorkKinds there are Jobs alone, and it says so', async () => {
  const { connection, lists } = cluster({ mayList: false });
  expect(await listWork(connection, {})).toMatchObject({
    objects: [{ kind: 'Job' }],
    unread: [],
    unknownKinds: 'you may not list workkinds.switchyard.dev',
  });
  expect(lists).toEqual(['jobs']);
});

test('who may not list Jobs hears that, and no other kind is asked for', async () => {
  const { connection, lists } = cluster({ refused: { jobs: 403 } });
  await expect(listWork(connection, {})).rejects.toThrow(ApiError);
  expect(lists).toEqual(['jobs']);
});
