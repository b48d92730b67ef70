import { expect, test } from 'vitest';
import { ofKind, renderChart } from '../../support/helm.ts';

const REDIS = 'redis.url=redis://redis:6379';
const names = (...values: string[]): string[] =>
  renderChart('manager', REDIS, ...values)
    .filter(({ metadata }) => metadata.name.endsWith('-canary'))
    .map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}`);

test('helm test has a pod, and rights of its own, where there is a queue for its Jobs', () => {
  expect(names()).toEqual([]);
  expect(names('canary.queue=team/main').toSorted()).toEqual([
    'ClusterRole ',
    'ClusterRoleBinding ',
    'Pod switchyard',
    'Role team',
    'RoleBinding team',
    'ServiceAccount switchyard',
  ]);
  expect(names('canary.queue=team/main', 'rbac.create=false')).toEqual(['Pod switchyard']);
});

test('the pod is no part of the release, and passes the restricted Pod Security Standard', () => {
  const [pod] = ofKind(renderChart('manager', REDIS, 'canary.queue=team/main', 'canary.image=own/busybox:1', 'canary.timeout=1m'), 'Pod');
  expect(pod).toMatchObject({
    metadata: { annotations: { 'helm.sh/hook': 'test', 'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded' } },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          args: ['canary', '--namespace=team', '--queue=main', '--image=own/busybox:1', '--timeout=1m'],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  });
});

test('canaries of the manager itself are off unless an interval is given', () => {
  const argsOf = (...values: string[]): string[] => {
    const [deployment] = ofKind(renderChart('manager', REDIS, ...values), 'Deployment') as unknown as {
      spec: { template: { spec: { containers: { args: string[] }[] } } };
    }[];
    return (deployment?.spec.template.spec.containers[0]?.args ?? []).filter((arg) => arg.startsWith('--canary'));
  };
  expect(argsOf()).toContain('--canary-interval=0s');
  expect(argsOf('canary.queue=team/main', 'canary.interval=5m')).toEqual(
    expect.arrayContaining(['--canary-interval=5m', '--canary-queue=team/main']),
  );
});
