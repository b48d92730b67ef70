import { describe, expect, test } from 'vitest';
import { contentDigest } from '../../../../../manager/api/content-digest.ts';
import { carriedReferences, type PodReference } from '../../../../../manager/api/pod-references.ts';
import {
  type Companion,
  COMPANION_BYTES_MAX,
  COMPANIONS_MAX,
  type FoundObject,
  planCompanions,
  refersTo,
  withCompanions,
} from '../../../../../manager/dispatch/companions/plan-companions.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import type { Job, Unsaved } from '../../../../../shared/api/kubernetes.ts';

const meta = (name: string) => ({ name, namespace: 'team', uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' });
const reference = (name: string, optional = false): PodReference => ({ kind: 'ConfigMap', name, optional });
const configMap = (name: string, data: Record<string, string>): FoundObject => ({ metadata: meta(name), data });
const plan = (references: readonly PodReference[], found: Readonly<Record<string, FoundObject>>): readonly Companion[] | string => {
  const planned = planCompanions('team', references, new Map(Object.entries(found)), 'home');
  return planned.kind === 'Ready' ? planned.companions : planned.problem.message;
};
const nameOf = (planned: readonly Companion[] | string, index = 0): string | undefined =>
  typeof planned === 'string' ? planned : planned[index]?.object.metadata.name;

describe('what a Job takes along', () => {
  test('is named by its content: equal content has one name, whatever the order of its keys, and other content another', () => {
    const first = plan([reference('settings')], { 'ConfigMap/settings': configMap('settings', { a: '1', b: '2' }) });
    const other = plan([reference('settings')], { 'ConfigMap/settings': configMap('settings', { b: '2', a: '1' }) });
    const changed = plan([reference('settings')], { 'ConfigMap/settings': configMap('settings', { a: '1', b: '3' }) });
    expect(nameOf(first)).toMatch(/^settings-[0-9a-f]{12}$/);
    expect(nameOf(other)).toBe(nameOf(first));
    expect(nameOf(changed)).not.toBe(nameOf(first));
    expect(first).toMatchObject([
      { object: { immutable: true, data: { a: '1', b: '2' }, metadata: { labels: { 'switchyard.dev/origin': 'home' } } } },
    ]);
  });

  test('has the content that an attachment was submitted with, and no other', () => {
    const data = { a: '1' };
    const attached = { ...reference('settings'), content: contentDigest({ data }) };
    expect(nameOf(plan([attached], { 'ConfigMap/settings': configMap('settings', data) }))).toMatch(/^settings-/);
    expect(plan([attached], { 'ConfigMap/settings': configMap('settings', { a: '2' }) })).toBe(
      'configmap team/settings has other content than the submission brought; submit the Job again',
    );
  });

  test('has the type of a Secret, and no metadata of the original', () => {
    const secret = {
      metadata: { ...meta('pull'), annotations: { private: 'note' } },
      type: 'kubernetes.io/dockerconfigjson',
      data: { x: 'eA==' },
    };
    const planned = plan([{ kind: 'Secret', name: 'pull', optional: false }], { 'Secret/pull': secret });
    expect(planned).toMatchObject([{ object: { type: 'kubernetes.io/dockerconfigjson', data: { x: 'eA==' } } }]);
    expect(JSON.stringify(planned)).not.toContain('private');
  });

  test.each([
    ['an overlong name', 'a'.repeat(253)],
    ['a name with a dot where it is cut', `${'a'.repeat(239)}.${'b'.repeat(13)}`],
  ])('has a name that an API server takes, also for %s', (_what, name) => {
    const made = nameOf(plan([reference(name)], { [`ConfigMap/${name}`]: configMap(name, {}) })) ?? '';
    expect(made.length).toBeLessThanOrEqual(253);
    expect(made).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
  });

  test('leaves out an optional object that does not exist, and names one that is missing', () => {
    expect(plan([reference('perhaps', true)], {})).toEqual([]);
    expect(plan([reference('settings')], {})).toBe('configmap team/settings does not exist; it travels with the Job');
  });

  test('has bounds for the number of objects and their bytes', () => {
    const many = Array.from({ length: COMPANIONS_MAX + 1 }, (_, index) => reference(`c${index}`));
    expect(plan(many, {})).toMatch(`takes ${COMPANIONS_MAX + 1} ConfigMaps and Secrets along, and ${COMPANIONS_MAX} are allowed`);
    const half = configMap('big', { a: 'x'.repeat(COMPANION_BYTES_MAX / 2) });
    expect(plan([reference('a'), reference('b')], { 'ConfigMap/a': half, 'ConfigMap/b': half })).toMatch(
      /have \d+ bytes, and \d+ are allowed/,
    );
  });

  test.each(['kubernetes.io/service-account-token', 'bootstrap.kubernetes.io/token'])('is never a Secret of type %s', (type) => {
    const found = { 'Secret/s': { metadata: meta('s'), type, data: {} } };
    expect(plan([{ kind: 'Secret', name: 's', optional: false }], found)).toMatch(`is of type ${type}, which is never carried`);
  });
});

const JOB: Unsaved<Job> = {
  metadata: { name: 'train', namespace: 'team' },
  spec: {
    template: {
      spec: { containers: [{ name: 'main', envFrom: [{ configMapRef: { name: 'settings' } }, { secretRef: { name: 'settings' } }] }] },
    },
  },
};

test('a copy refers to its companions, and keeps names of kinds that are not carried', () => {
  const references = carriedReferences(JOB_KIND.references(JOB), ['ConfigMaps']);
  expect(references).toEqual([reference('settings')]);
  const companions = plan(references, { 'ConfigMap/settings': configMap('settings', {}) });
  if (typeof companions === 'string') throw new Error(companions);
  const copy = withCompanions(JOB_KIND, JOB, companions) as Job;
  expect(copy.spec.template.spec?.containers?.[0]?.envFrom).toEqual([
    { configMapRef: { name: nameOf(companions) } },
    { secretRef: { name: 'settings' } },
  ]);
  expect(refersTo(JOB_KIND, copy, companions)).toBe(true);
  expect(refersTo(JOB_KIND, JOB as Job, companions)).toBe(false);
  expect(withCompanions(JOB_KIND, JOB, [])).toBe(JOB);
});
