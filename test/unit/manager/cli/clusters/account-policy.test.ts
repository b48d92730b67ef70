import { expect, test } from 'vitest';
import { accountPolicy } from '../../../../../manager/cli/clusters/account-policy.ts';
import { BUILT_IN_JOB_CONTROLLER_NAME, WORKER_CONTROLLER_NAME } from '../../../../../shared/api/names.ts';
import { ofKind, renderChart } from '../../../../support/helm.ts';

const NAME = 'test-switchyard-worker-manager-access';

test.each<[string, string, string[], string[]]>([
  ['a worker beside the built-in Job controller', WORKER_CONTROLLER_NAME, ['kube-*'], []],
  ['a worker of other kinds, too', WORKER_CONTROLLER_NAME, ['kube-*', 'vault'], ['jobsets.jobset.x-k8s.io', 'rayjobs.ray.io']],
  ['a Job controller that runs all Jobs, with another kind', BUILT_IN_JOB_CONTROLLER_NAME, ['kube-*'], ['rayjobs.ray.io']],
  ['a worker that denies other namespaces', WORKER_CONTROLLER_NAME, ['vault', 'kube-*', 'istio-*', 'cert-manager', 'prod-*'], []],
  ['a worker that denies another namespace alone', WORKER_CONTROLLER_NAME, ['vault'], []],
  ['a Job controller that runs all Jobs', BUILT_IN_JOB_CONTROLLER_NAME, ['kube-*', 'vault'], []],
])(
  'what holds the manager’s account to copies of %s is what the chart has',
  { timeout: 60_000 },
  (_, jobController, deniedNamespaces, kinds) => {
    const rendered = renderChart(
      'worker',
      `config.controllerName=${jobController}`,
      `config.deniedNamespaces={${deniedNamespaces.join()}}`,
      ...(kinds.length === 0 ? [] : [`managerAccess.kinds={${kinds.join()}}`]),
    );
    const chart = ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'].flatMap((kind) =>
      ofKind(rendered, kind).filter(({ metadata }) => metadata.name === NAME),
    );
    const ours = accountPolicy({ namespace: 'switchyard', name: NAME, jobController, deniedNamespaces, kinds }).map(({ object }) => object);
    const essentials = (objects: readonly object[]): unknown[] =>
      (objects as readonly { apiVersion: unknown; kind: unknown; spec?: unknown }[]).map(({ apiVersion, kind, spec }) => ({
        apiVersion,
        kind,
        spec,
      }));
    expect(essentials(ours)).toEqual(essentials(chart));
  },
);
