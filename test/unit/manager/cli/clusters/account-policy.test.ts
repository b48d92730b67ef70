import { expect, test } from 'vitest';
import { accountPolicy } from '../../../../../manager/cli/clusters/account-policy.ts';
import { BUILT_IN_JOB_CONTROLLER_NAME, WORKER_CONTROLLER_NAME } from '../../../../../shared/api/names.ts';
import { ofKind, renderChart } from '../../../../support/helm.ts';

const NAME = 'test-switchyard-worker-manager-access';

test.each([
  ['a worker beside the built-in Job controller', WORKER_CONTROLLER_NAME],
  ['a Job controller that runs all Jobs', BUILT_IN_JOB_CONTROLLER_NAME],
])('what holds the manager’s account to copies of %s is what the chart has', { timeout: 60_000 }, (_, jobController) => {
  const rendered = renderChart('worker', `config.controllerName=${jobController}`);
  const chart = ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'].flatMap((kind) =>
    ofKind(rendered, kind).filter(({ metadata }) => metadata.name === NAME),
  );
  const ours = accountPolicy({ namespace: 'switchyard', name: NAME, jobController }).map(({ object }) => object);
  const essentials = (objects: readonly object[]): unknown[] =>
    (objects as readonly { apiVersion: unknown; kind: unknown; spec?: unknown }[]).map(({ apiVersion, kind, spec }) => ({
      apiVersion,
      kind,
      spec,
    }));
  expect(essentials(ours)).toEqual(essentials(chart));
});
