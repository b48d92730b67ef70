import { expect, test } from 'vitest';
import { divideControllers } from '../../../../../shared/controlplane/binaries/upstream-controllers.ts';

test('kube-controller-manager does what it can, and our node agent is the kubelet', () => {
  expect(divideControllers(['garbage-collector', 'node-agent', 'namespace'])).toEqual({
    upstream: ['garbage-collector-controller', 'namespace-controller'],
    ours: ['node-agent'],
  });
});
