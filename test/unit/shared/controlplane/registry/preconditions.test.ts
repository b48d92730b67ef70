import { expect, test } from 'vitest';
import { checkPreconditions, storageKey } from '../../../../../shared/controlplane/registry/preconditions.ts';
import { StatusError } from '../../../../../shared/controlplane/apimachinery/status-error.ts';

const resource = (custom: boolean) =>
  ({ custom, definition: { group: 'batch', plural: 'jobs' }, groupResource: { group: 'batch', resource: 'jobs' } }) as never;
const current = { namespace: 'team', name: 'sum', object: { metadata: { uid: 'u1', resourceVersion: '7' } } } as never;

test('custom kinds are stored below their group, built-in kinds below their plural name', () => {
  expect([storageKey(resource(false), 'team', 'sum'), storageKey(resource(true), '', 'sum')]).toEqual([
    '/registry/jobs/team/sum',
    '/registry/batch/jobs/sum',
  ]);
});

test('preconditions that are absent or empty demand nothing', () => {
  expect(() => checkPreconditions(resource(false), {}, current)).not.toThrow();
  expect(() => checkPreconditions(resource(false), { uid: '', resourceVersion: '' }, current)).not.toThrow();
  expect(() => checkPreconditions(resource(false), { uid: 'u1', resourceVersion: '7' }, current)).not.toThrow();
});

test.each([
  [{ uid: 'u2' }, 'Precondition failed: UID in precondition: u2, UID in object meta: u1'],
  [{ resourceVersion: '6' }, 'Precondition failed: ResourceVersion in precondition: 6, ResourceVersion in object meta: 7'],
])('%j is a conflict, in the words of the storage', (preconditions, message) => {
  const failed = (): void => checkPreconditions(resource(false), preconditions, current);
  expect(failed).toThrow(StatusError);
  expect(failed).toThrow(message);
});
