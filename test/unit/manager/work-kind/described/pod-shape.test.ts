import { expect, test } from 'vitest';
import { templateProblem } from '../../../../../manager/work-kind/described/pod-shape.ts';

/** An object with this value at a path such as `volumes[0].name`. */
function at(path: string, value: unknown): object {
  const [step = '', ...rest] = path.split('.');
  const inner = rest.length === 0 ? value : at(rest.join('.'), value);
  return { [step.replace('[0]', '')]: step.endsWith('[0]') ? [inner] : inner };
}

const container = (field: string): string[] =>
  [
    'name',
    'restartPolicy',
    'env[0].name',
    'env[0].valueFrom.configMapKeyRef.name',
    'env[0].valueFrom.secretKeyRef.name',
    'envFrom[0].configMapRef.name',
    'envFrom[0].secretRef.name',
    'resources.claims[0].name',
  ].map((each) => `${field}[0].${each}`);
const term = (field: string): string[] =>
  ['matchExpressions', 'matchFields'].flatMap((each) => ['key', 'operator', 'values'].map((part) => `${field}.${each}[0].${part}`));
const affinity = (field: string): string => `affinity.nodeAffinity.${field}DuringSchedulingIgnoredDuringExecution`;

/** Where texts are wanted, or lists of them; where numbers; where amounts, which are either; and where there may be more of something. */
const TEXTS = [
  ...container('containers'),
  ...container('initContainers'),
  'serviceAccountName',
  'serviceAccount',
  'volumes[0].name',
  'volumes[0].persistentVolumeClaim.claimName',
  'volumes[0].configMap.name',
  'volumes[0].secret.secretName',
  'volumes[0].projected.sources[0].configMap.name',
  'volumes[0].projected.sources[0].secret.name',
  'imagePullSecrets[0].name',
  ...['key', 'operator', 'value', 'effect'].map((field) => `tolerations[0].${field}`),
  ...term(`${affinity('required')}.nodeSelectorTerms[0]`),
  ...term(`${affinity('preferred')}[0].preference`),
  'resources.claims[0].name',
  'resourceClaims[0].name',
  'priorityClassName',
  'runtimeClassName',
];
const NUMBERS = [`${affinity('preferred')}[0].weight`, 'terminationGracePeriodSeconds'];
const AMOUNTS = [
  ...['containers[0].', 'initContainers[0].', ''].flatMap((of) => [`${of}resources.requests`, `${of}resources.limits`]),
  'overhead',
];

test.each(TEXTS)('spec.%s is a text, or a list of texts', (path) => {
  for (const wrong of [7, true, {}, [7]]) expect(templateProblem({ spec: at(path, wrong) })).toBe(`spec.${path} is of a wrong type`);
  const right = path.endsWith('.values') ? ['a'] : 'a';
  for (const value of [right, null, undefined]) expect(templateProblem({ spec: at(path, value) })).toBeUndefined();
});

test.each(NUMBERS)('spec.%s is a number', (path) => {
  for (const wrong of ['7', true, {}, []]) expect(templateProblem({ spec: at(path, wrong) })).toBe(`spec.${path} is of a wrong type`);
  for (const value of [7, 0, null]) expect(templateProblem({ spec: at(path, value) })).toBeUndefined();
});

test.each(AMOUNTS)('spec.%s has quantities', (path) => {
  for (const wrong of ['7', [], { cpu: true }, { cpu: '1', memory: {} }])
    expect(templateProblem({ spec: at(path, wrong) })).toBe(`spec.${path} is of a wrong type`);
  for (const value of [{ cpu: '1', memory: 7 }, {}, null]) expect(templateProblem({ spec: at(path, value) })).toBeUndefined();
});

test('labels and the selector of nodes are objects of texts', () => {
  for (const wrong of ['a', ['a'], { a: 7 }]) {
    expect(templateProblem({ spec: { nodeSelector: wrong } })).toBe('spec.nodeSelector is of a wrong type');
    expect(templateProblem({ metadata: { labels: wrong }, spec: {} })).toBe('metadata.labels must be an object of strings');
  }
  expect(templateProblem({ metadata: 'a', spec: {} })).toBe('metadata.labels must be an object of strings');
  for (const metadata of [undefined, null, {}, { labels: null }, { labels: { a: 'b' } }])
    expect(templateProblem({ metadata, spec: { nodeSelector: { a: 'b' } } })).toBeUndefined();
});

test('lists are lists, and their items and other parts are objects', () => {
  expect(templateProblem({ spec: { containers: {} } })).toBe('spec.containers must be a list');
  expect(templateProblem({ spec: { containers: [{}, 'a'] } })).toBe('spec.containers[1] must be an object');
  expect(templateProblem({ spec: { affinity: [] } })).toBe('spec.affinity must be an object');
});

test('what is no template at all says what is missing, and fields that nobody reads may be anything', () => {
  for (const none of [undefined, null, 'a', []]) expect(templateProblem(none)).toBe('is missing, and must be a pod template');
  for (const spec of [undefined, null, 'a', []]) expect(templateProblem({ spec })).toBe('spec is missing, and must be that of a pod');
  expect(templateProblem({ spec: { hostname: 7, constructor: 7, containers: [{ image: 7 }] } })).toBeUndefined();
});
