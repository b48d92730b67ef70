import { describe, expect, test } from 'vitest';
import { copiedAnnotations, copiedLabels, variablesForPods } from '../../../../../manager/work-kind/copy/copied-metadata.ts';
import { copiedPod } from '../../../../../manager/work-kind/copy/copied-pod.ts';
import { keeps, missingBelow } from '../../../../../manager/work-kind/copy/missing-fields.ts';
import { essentialsOfPod, withoutCommands } from '../../../../../manager/work-kind/copy/pod-essentials.ts';
import { conditionsOf, smallFields, time } from '../../../../../manager/work-kind/copy/remote-conditions.ts';
import { selectorText } from '../../../../../manager/work-kind/copy/selector-text.ts';
import type { CopyOptions } from '../../../../../manager/work-kind/copy-options.ts';
import { claimProblems, namespaceProblems, requestProblems } from '../../../../../manager/work-kind/pod-set-problems.ts';

const OPTIONS: CopyOptions = { origin: 'm', epoch: 2, jobController: 'a/b', local: true, flavors: [], fenced: false };
const local = {
  metadata: {
    name: 'a',
    namespace: 'team',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '',
    labels: { 'switchyard.dev/queue-name': 'q', team: 'x', mine: 'y' },
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', note: 'n' },
  },
};

test('a copy has the labels and annotations that travel, its identity, and none that its kind leaves out', () => {
  expect(copiedLabels(local, 'm', (name) => name === 'mine')).toEqual({ team: 'x', 'switchyard.dev/origin': 'm' });
  expect(copiedAnnotations(local, OPTIONS)).toEqual({
    note: 'n',
    'switchyard.dev/origin-uid': 'u',
    'switchyard.dev/dispatch-epoch': '2',
    'switchyard.dev/job-controller': 'a/b',
    'switchyard.dev/fencing': 'off',
    'switchyard.dev/origin-name': 'a',
  });
});

test('a pod of a copy has the variables of the copy before its own, and those of the identity instead of its own', () => {
  const variables = variablesForPods(local, OPTIONS);
  const pod = copiedPod(
    {
      containers: [
        {
          name: 'main',
          env: [
            { name: 'A', value: '1' },
            { name: 'SWITCHYARD_JOB', value: 'forged' },
          ],
        },
      ],
    },
    [],
    variables,
  );
  expect(pod.containers[0]?.env?.map(({ name, value }) => `${name}=${value}`)).toEqual([
    'SWITCHYARD_EPOCH=2',
    'SWITCHYARD_JOB=team/a',
    'SWITCHYARD_JOB_UID=u',
    'SWITCHYARD_MANAGER=m',
    'A=1',
  ]);
});

test('what decides where a pod runs is kept of it, and nothing of what it runs', () => {
  const container = { name: 'main', image: 'i', command: ['c'], args: ['a'], env: [], envFrom: [], resources: { requests: { cpu: '1' } } };
  expect(essentialsOfPod({ containers: [container], nodeSelector: { a: 'b' }, hostNetwork: true })).toEqual({
    containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }],
    nodeSelector: { a: 'b' },
  });
  expect(withoutCommands(container)).toEqual({ name: 'main', image: 'i', resources: { requests: { cpu: '1' } } });
});

test('a sent field is missing only where nothing stands in its place, and kept where all of it does', () => {
  expect(missingBelow({ a: 1, list: [{ name: 'x', b: 2 }], none: [] }, { list: [{ name: 'y' }, { name: 'x' }] }, 'spec')).toEqual([
    'spec.a',
    'spec.list[0].b',
  ]);
  expect([keeps({ a: 1 }, { a: 1, b: 2 }), keeps([1], [1, 2]), keeps(0, undefined), keeps('x', 'y')]).toEqual([true, false, true, false]);
});

describe('what a worker cluster says', () => {
  test('is a condition only with values that can be stored', () => {
    expect(
      conditionsOf([null, { type: 'A', status: 'maybe' }, { type: 'A', status: 'True', lastTransitionTime: 'soon', reason: 3 }]),
    ).toEqual([{ type: 'A', status: 'True' }]);
    expect(Object.keys(smallFields({ good: 1, 'b a d': 2, big: 'x'.repeat(5000) }))).toEqual(['good']);
    expect([time('2026-01-01T00:00:00Z'), time('2026-13-01T00:00:00Z'), time(3)]).toEqual(['2026-01-01T00:00:00Z', undefined, undefined]);
  });

  test('is a selector only of labels that an API server takes', () => {
    expect(selectorText({ 'a.b/c': 'd' })).toBe('a.b/c=d');
    expect([selectorText({}), selectorText({ a: 'b,c' }), selectorText({ 'a b': 'c' }), selectorText({ a: 1 })]).toEqual(
      Array.from({ length: 4 }, () => undefined),
    );
  });
});

test('the rules of an administrator name the field and the remedy for any kind', () => {
  const podSet = {
    name: 'a',
    count: 1,
    template: { spec: { containers: [{ name: 'c', resources: { requests: { cpu: 'x' }, claims: [{ name: 'gpu' }] } }] } },
  };
  expect(namespaceProblems(local, ['te*'], 'Crew')[0]?.problem).toContain('create the Crew in another namespace');
  expect(requestProblems([podSet], 'spec.pod')[0]?.field).toBe('spec.pod');
  expect(claimProblems([podSet], 'Refuse', 'spec.pod', 'Crew')[0]?.field).toBe('spec.pod.resourceClaims');
  expect(claimProblems([podSet], 'Ignore', 'spec.pod', 'Crew')).toEqual([]);
});
