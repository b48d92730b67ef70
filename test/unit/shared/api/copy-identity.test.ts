import { describe, expect, test } from 'vitest';
import { originOf, templateIdentity } from '../../../../shared/api/copy-identity.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';

type Env = readonly { readonly name: string; readonly value?: unknown }[];
const ENV: Env = [
  { name: 'SWITCHYARD_EPOCH', value: '3' },
  { name: 'SWITCHYARD_JOB', value: 'team/sum' },
  { name: 'SWITCHYARD_JOB_UID', value: 'uid-1' },
  { name: 'SWITCHYARD_MANAGER', value: 'm1' },
];
const IDENTITY = { epoch: 3, namespace: 'team', name: 'sum', originUid: 'uid-1', manager: 'm1' };
const specOf = (...envs: (Env | undefined)[]): unknown => ({
  template: { spec: { containers: envs.map((env, index) => ({ name: `c${index}`, env })) } },
});

describe('the pod template of a copy', () => {
  test('says whose it is, in whichever container and wherever a webhook puts variables of its own in front', () => {
    expect(templateIdentity(specOf(ENV))).toEqual(IDENTITY);
    expect(templateIdentity(specOf(undefined, [], [{ name: 'HTTP_PROXY', value: 'x' }, ...ENV]))).toEqual(IDENTITY);
  });

  test('of an earlier release names no manager', () => {
    expect(templateIdentity(specOf(ENV.slice(0, 3)))).toEqual({ ...IDENTITY, manager: undefined });
  });

  test.each<[string, unknown]>([
    ['no spec', undefined],
    ['no containers', { template: { spec: {} } }],
    ['containers that are none', { template: { spec: { containers: ['main', { env: 'EPOCH' }] } } }],
    ['none of the variables', specOf([{ name: 'HOME', value: '/' }])],
    ['one of a user further down', specOf([ENV[1]!, ENV[2]!, ENV[0]!])],
    ['an epoch that is no number', specOf([{ name: 'SWITCHYARD_EPOCH', value: '3e2' }, ...ENV.slice(1)])],
    ['a value from elsewhere', specOf([ENV[0]!, ENV[1]!, { name: 'SWITCHYARD_JOB_UID' }])],
    ['a name that is no key', specOf([ENV[0]!, { name: 'SWITCHYARD_JOB', value: 'a/b/c' }, ENV[2]!])],
    ['a value beyond all measure', specOf([ENV[0]!, ENV[1]!, { name: 'SWITCHYARD_JOB_UID', value: 'u'.repeat(1000) }])],
  ])('says nothing with %s', (_, spec) => {
    expect(templateIdentity(spec)).toBeUndefined();
  });
});

describe('the manager of a copy', () => {
  const jobOf = (spec: unknown, labels = {}): Pick<Job, 'metadata' | 'spec'> => ({ metadata: { labels }, spec }) as never;

  test('is the one of its template, whatever its label says', () => {
    expect(originOf(jobOf(specOf(ENV), { 'switchyard.dev/origin': 'm2' }))).toBe('m1');
    expect(originOf(jobOf(specOf(ENV)))).toBe('m1');
  });

  test('is the one of its label where the template names none, and there is none of other Jobs', () => {
    expect(originOf(jobOf(specOf(ENV.slice(0, 3)), { 'switchyard.dev/origin': 'm2' }))).toBe('m2');
    expect(originOf(jobOf(specOf([])))).toBeUndefined();
  });
});
