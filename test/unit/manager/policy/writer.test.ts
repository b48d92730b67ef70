import { expect, test } from 'vitest';
import { recognize } from '../../../../manager/policy/writer.ts';
import { MANAGER_FIELD_MANAGER, SUBMISSION_USER_EXTRA } from '../../../../shared/api/names.ts';

const IDENTITIES = { managers: ['manager', 'other-manager'], localWorkers: ['worker'] };

test.each([
  ['manager', MANAGER_FIELD_MANAGER, { writer: 'Manager', sharesIdentity: false }],
  ['other-manager', MANAGER_FIELD_MANAGER, { writer: 'Manager', sharesIdentity: false }],
  ['manager', 'kubectl-edit', { writer: 'User', sharesIdentity: true }],
  ['manager', undefined, { writer: 'User', sharesIdentity: true }],
  ['alice', MANAGER_FIELD_MANAGER, { writer: 'User', sharesIdentity: false }],
  ['worker', 'switchyard-worker', { writer: 'LocalWorker', sharesIdentity: false }],
  ['worker', MANAGER_FIELD_MANAGER, { writer: 'LocalWorker', sharesIdentity: false }],
  [undefined, MANAGER_FIELD_MANAGER, { writer: 'User', sharesIdentity: false }],
] as const)('%s, who calls himself %s, is known', (username, fieldManager, recognition) => {
  expect(recognize(username, fieldManager, IDENTITIES)).toEqual(recognition);
});

test('the manager is known as the ServiceAccount of a tenant by what nobody else may impersonate with, and by its field manager', () => {
  const extra = { [SUBMISSION_USER_EXTRA]: ['team/batch'] };
  const writer = (username: string, fieldManager: string) => recognize(username, fieldManager, IDENTITIES, extra).writer;
  expect(writer('submitter', MANAGER_FIELD_MANAGER)).toBe('Submission');
  expect(writer('submitter', 'kubectl')).toBe('User');
  expect(writer('worker', MANAGER_FIELD_MANAGER)).toBe('LocalWorker');
  expect(recognize('submitter', MANAGER_FIELD_MANAGER, IDENTITIES, { 'example.com/team': ['a'] }).writer).toBe('User');
});
