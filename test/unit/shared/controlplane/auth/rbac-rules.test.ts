import { describe, expect, test } from 'vitest';
import type { AccessQuestion } from '../../../../../shared/controlplane/auth/authorizer.ts';
import { type PolicyRule, ruleAllows } from '../../../../../shared/controlplane/auth/rbac-rules.ts';

type Asked = { group?: string; resource?: string; subresource?: string; name?: string; verb?: string };
const onResource = ({ group = 'batch', resource = 'jobs', subresource = '', name = '', verb = 'get' }: Asked = {}): AccessQuestion => ({
  kind: 'resource',
  verb,
  group,
  version: 'v1',
  resource,
  subresource,
  namespace: 'ns',
  name,
});
const onPath = (path: string, verb = 'get'): AccessQuestion => ({ kind: 'path', verb, path });
const jobs: PolicyRule = { verbs: ['get'], apiGroups: ['batch'], resources: ['jobs'] };

describe('a rule about resources', () => {
  test.each<[string, PolicyRule, AccessQuestion, boolean]>([
    ['allows what it names', jobs, onResource(), true],
    ['allows no other verb', jobs, onResource({ verb: 'list' }), false],
    ['allows no other group', jobs, onResource({ group: 'apps' }), false],
    ['of the core group allows no other', { ...jobs, apiGroups: [''] }, onResource(), false],
    ['allows no other resource', jobs, onResource({ resource: 'cronjobs' }), false],
    ['allows no subresource that it does not name', jobs, onResource({ subresource: 'status' }), false],
    ['allows a subresource that it names', { ...jobs, resources: ['jobs/status'] }, onResource({ subresource: 'status' }), true],
    ['about a subresource allows nothing of the resource itself', { ...jobs, resources: ['jobs/status'] }, onResource(), false],
    ['about a subresource of all allows it of any', { ...jobs, resources: ['*/scale'] }, onResource({ subresource: 'scale' }), true],
    ['about a subresource of all allows no other', { ...jobs, resources: ['*/scale'] }, onResource({ subresource: 'status' }), false],
    ['about a subresource of all allows no resource of its name', { ...jobs, resources: ['*/'] }, onResource(), false],
    ['about all resources allows subresources', { ...jobs, resources: ['*'] }, onResource({ subresource: 'status' }), true],
    ['with stars allows everything', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, onResource({ verb: 'escalate' }), true],
    ['about named objects allows these', { ...jobs, resourceNames: ['pi'] }, onResource({ name: 'pi' }), true],
    ['about named objects allows no others, and no lists', { ...jobs, resourceNames: ['pi'] }, onResource({ name: '' }), false],
    ['knows no star among names of objects', { ...jobs, resourceNames: ['*'] }, onResource({ name: 'pi' }), false],
    ['knows no star inside a name', { ...jobs, resources: ['job*'] }, onResource(), false],
    ['without verbs allows nothing', { ...jobs, verbs: [] }, onResource(), false],
    ['without groups allows nothing', { verbs: ['*'], resources: ['*'] }, onResource(), false],
    ['says nothing about paths', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, onPath('/healthz'), false],
  ])('%s', (_what, rule, question, allowed) => {
    expect(ruleAllows(rule, question)).toBe(allowed);
  });
});

describe('a rule about paths', () => {
  const rule = (...nonResourceURLs: string[]): PolicyRule => ({ verbs: ['get'], nonResourceURLs });
  test.each<[string, PolicyRule, AccessQuestion, boolean]>([
    ['allows what it names', rule('/healthz'), onPath('/healthz'), true],
    ['allows nothing below', rule('/healthz'), onPath('/healthz/etcd'), false],
    ['with a star at its end allows everything below', rule('/healthz/*'), onPath('/healthz/etcd'), true],
    ['with a star below does not allow the path itself', rule('/healthz/*'), onPath('/healthz'), false],
    ['with several stars at its end is one with one', rule('/logs/**'), onPath('/logs/x'), true],
    ['knows no star in the middle', rule('/*/etcd'), onPath('/healthz/etcd'), false],
    ['of a star alone allows every path', rule('*'), onPath('anything'), true],
    ['allows no other verb', rule('*'), onPath('/healthz', 'post'), false],
    ['says nothing about resources', rule('*'), onResource(), false],
  ])('%s', (_what, policy, question, allowed) => {
    expect(ruleAllows(policy, question)).toBe(allowed);
  });
});

test('an empty rule allows nothing', () => {
  expect(ruleAllows({}, onResource())).toBe(false);
  expect(ruleAllows({}, onPath('/'))).toBe(false);
});
