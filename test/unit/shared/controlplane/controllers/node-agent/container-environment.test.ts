import { expect, test } from 'vitest';
import type { Container, Pod, Secret } from '../../../../../../shared/api/kubernetes.ts';
import {
  expand,
  referencedConfig,
  resolveCommand,
} from '../../../../../../shared/controlplane/controllers/node-agent/container-environment.ts';
import { parseDurationMs } from '../../../../../../shared/controlplane/controllers/node-agent/simulated-containers.ts';

const meta = { name: 'p', namespace: 'ns', uid: 'u-1', resourceVersion: '1', creationTimestamp: '' };
const pod: Pod = {
  metadata: { ...meta, labels: { app: 'web' }, annotations: { 'batch.kubernetes.io/job-completion-index': '4' } },
  spec: { containers: [], nodeName: 'n', hostname: 'web-4' },
  status: { podIP: '127.1.1.1' },
};
const secret: Secret = { metadata: meta, data: { password: Buffer.from('s3cret').toString('base64') } };
const sources = {
  configMap: (name: string) => (name === 'settings' ? { metadata: meta, data: { a: '1', b: '2' } } : undefined),
  secret: (name: string) => (name === 'login' ? secret : undefined),
};
const environmentOf = (container: Partial<Container>): Readonly<Record<string, string>> =>
  resolveCommand(pod, { name: 'main', ...container }, sources).environment;

test('fields of the pod are told by the downward API', () => {
  const paths = [
    'metadata.name',
    'metadata.uid',
    "metadata.labels['app']",
    "metadata.labels['absent']",
    "metadata.annotations['batch.kubernetes.io/job-completion-index']",
    'spec.nodeName',
    'status.podIP',
  ];
  const env = paths.map((fieldPath, index) => ({ name: `V${index}`, valueFrom: { fieldRef: { fieldPath } } }));
  const { HOSTNAME, ...values } = environmentOf({ env });
  expect(HOSTNAME).toBe('web-4');
  expect(Object.values(values)).toEqual(['p', 'u-1', 'web', '', '4', 'n', '127.1.1.1']);
});

test('env overrides envFrom, and later variables may use earlier ones', () => {
  const container = {
    envFrom: [{ prefix: 'X_', configMapRef: { name: 'settings' } }, { secretRef: { name: 'login' } }],
    env: [
      { name: 'X_a', value: 'own' },
      { name: 'URL', value: '$(X_b):$(password):$(UNKNOWN):$$(X_b)' },
      { name: 'OPTIONAL', valueFrom: { secretKeyRef: { name: 'none', key: 'k', optional: true } } },
    ],
  };
  expect(environmentOf(container)).toEqual({
    HOSTNAME: 'web-4',
    X_a: 'own',
    X_b: '2',
    password: 's3cret',
    URL: '2:s3cret:$(UNKNOWN):$(X_b)',
  });
  expect(referencedConfig({ name: 'main', ...container })).toEqual({
    configMaps: new Set(['settings']),
    secrets: new Set(['login', 'none']),
  });
});

test('resources are told in the divisor asked for, rounded up', () => {
  const container = {
    resources: { requests: { cpu: '250m' }, limits: { memory: '1Gi' } },
    env: [
      { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'requests.cpu' } } },
      { name: 'MILLIS', valueFrom: { resourceFieldRef: { resource: 'requests.cpu', divisor: '1m' } } },
      { name: 'MEM', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
    ],
  };
  expect(environmentOf(container)).toMatchObject({ CPU: '1', MILLIS: '250', MEM: '1024' });
});

test('what is missing is named', () => {
  const reference = (valueFrom: object) => () => environmentOf({ env: [{ name: 'V', valueFrom }] });
  expect(reference({ configMapKeyRef: { name: 'settings', key: 'z' } })).toThrow("couldn't find key z in ConfigMap ns/settings");
  expect(reference({ configMapKeyRef: { name: 'none', key: 'z' } })).toThrow('configmap "none" not found');
  expect(reference({ secretKeyRef: { name: 'none', key: 'z' } })).toThrow('secret "none" not found');
  expect(reference({ fieldRef: { fieldPath: 'spec.colour' } })).toThrow('unsupported fieldPath: spec.colour');
  expect(() => environmentOf({ envFrom: [{ secretRef: { name: 'none' } }] })).toThrow('secret "none" not found');
});

test('a dollar sign is kept by doubling it', () => {
  expect(expand('$$ $(A) $A $(B', { A: 'x' })).toBe('$ x $A $(B');
});

test('durations are read with their unit, and as seconds without', () => {
  expect(['250ms', '1.5s', '2m', '1h', '3'].map(parseDurationMs)).toEqual([250, 1500, 120_000, 3_600_000, 3000]);
  expect(['', 'soon', '-1s', '1d'].map(parseDurationMs)).toEqual([undefined, undefined, undefined, undefined]);
});
