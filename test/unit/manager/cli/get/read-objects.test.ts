import { expect, test } from 'vitest';
import { readObjects, type Listing } from '../../../../../manager/cli/get/read-objects.ts';
import { workView } from '../../../../../manager/cli/get/work-view.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import type { ObjectKey } from '../../../../../shared/api/kubernetes.ts';
import type { Resource } from '../../../../../shared/api/resources.ts';
import { ApiError } from '../../../../../shared/kube/api-error.ts';
import { aHomeJob } from '../../../../support/jobs.ts';
import { aCrew, aCrewKind, CREWS } from '../../work-kind/described/described.ts';

const crew = aCrew({ spec: { policy: { suspend: true, managedBy: 'example.com/elsewhere' } } });
const forbidden = (plural: string): ApiError =>
  new ApiError(403, { kind: 'Status', status: 'Failure', code: 403, reason: 'Forbidden', message: `no ${plural}` });
/** As an API server answers that does not serve a resource. */
const notServed = new ApiError(404, { message: '404 page not found' });
const listing = (names: readonly string[] = []): Listing => ({
  view: workView('jobs or crews', [JOB_KIND, aCrewKind()]),
  names: new Map([[CREWS, names]]),
  namespace: 'team',
});

/** Reads with a client that may not read objects of these resources, or whose cluster does not serve them. */
async function read(denied: readonly string[], listed = listing(), gone: readonly string[] = []) {
  const mayRead = (plural: string): void => {
    if (denied.includes(plural)) throw forbidden(plural);
    if (gone.includes(plural)) throw notServed;
  };
  const client = {
    async list({ plural }: Resource) {
      mayRead(plural);
      return { items: plural === 'jobs' ? [aHomeJob(), aHomeJob({ spec: { managedBy: 'x/y' } })] : [crew, aCrew()] };
    },
    async get({ plural }: Resource, _key: ObjectKey) {
      mayRead(plural);
      return aCrew();
    },
  };
  const { objects, refused } = await readObjects(client as never, listed, undefined);
  return { kinds: objects.map(({ kind }) => kind), refused: refused.map(({ resource, error }) => `${resource.plural}: ${error.message}`) };
}

test('objects of all kinds are listed, of those that the manager runs', async () => {
  expect(await read([])).toEqual({ kinds: ['Job', 'Crew'], refused: [] });
});

test('a kind that the user may not list leaves the others, and where there are no others it is an error', async () => {
  expect(await read(['crews'])).toEqual({ kinds: ['Job'], refused: ['crews: no crews'] });
  expect(await read(['jobs'])).toEqual({ kinds: ['Crew'], refused: ['jobs: no jobs'] });
  await expect(read(['jobs', 'crews'])).rejects.toThrow(ApiError);
});

test('a kind whose definition is gone leaves the others, unless an object of it is named', async () => {
  expect(await read([], listing(), ['crews'])).toEqual({ kinds: ['Job'], refused: ['crews: 404 page not found'] });
  await expect(read([], listing(), ['jobs', 'crews'])).rejects.toThrow(notServed);
  const { view, ...where } = listing();
  const [, crews = CREWS] = view.resources;
  await expect(read([], { ...where, view, names: new Map([[crews, ['argo']]]) }, ['crews'])).rejects.toThrow(notServed);
});

test('one that is named is shown whoever runs it', async () => {
  const crews = { ...listing(['argo']), view: workView('crews', [aCrewKind()]) };
  expect(await read([], { ...crews, names: new Map([[crews.view.resources[0] ?? CREWS, ['argo']]]) })).toEqual({
    kinds: ['Crew'],
    refused: [],
  });
});
