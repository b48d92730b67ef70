import { expect, test } from 'vitest';
import { KubeconfigError } from '../../../../../shared/kube/kubeconfig/kubeconfig-error.ts';

test('a kubeconfig error is told apart by class and by name, and keeps what caused it', () => {
  const cause = new Error('ENOENT');
  const error = new KubeconfigError('cannot read the kubeconfig', { cause });
  expect(error).toBeInstanceOf(KubeconfigError);
  expect(String(error)).toBe('KubeconfigError: cannot read the kubeconfig');
  expect(error.cause).toBe(cause);
});
