import { describe, expect, test } from 'vitest';
import { CommandError } from '../../../../manager/cli/command-error.ts';
import { ExitCode } from '../../../../manager/cli/exit-codes.ts';
import { troubleWith } from '../../../../manager/cli/trouble.ts';
import { FlagError } from '../../../../shared/runtime/flags.ts';
import { ApiError } from '../../../../shared/kube/api-error.ts';
import { KubeconfigError } from '../../../../shared/kube/kubeconfig/kubeconfig-error.ts';
import { UnusableAnswer } from '../../../../shared/kube/unusable-answer.ts';

const trouble = (error: unknown): { readonly said: string; readonly code: number } => {
  const judged = troubleWith('the manager cluster', 'https://x', error);
  if (!(judged instanceof CommandError)) throw new Error('that is no trouble of a cluster', { cause: judged });
  return { said: judged.message, code: judged.exitCode };
};
const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });

describe('what a cluster does to us is said with a remedy, and an exit code', () => {
  test.each([
    ['nobody knows us', new ApiError(401, {}), 'does not know who you are; renew', ExitCode.Unreachable],
    ['no right', new ApiError(403, { message: 'jobs is forbidden' }), 'refused: jobs is forbidden; ask whoever', ExitCode.Failed],
    ['no such object', new ApiError(404, { message: 'jobs "x" not found', details: { name: 'x' } }), 'jobs "x" not found', ExitCode.Failed],
    [
      'no such kind',
      new ApiError(404, { message: 'the server could not find it' }),
      'are Switchyard’s definitions installed',
      ExitCode.Failed,
    ],
    ['too busy', new ApiError(429, { message: 'slow down' }), 'has no time: slow down; try again', ExitCode.Unreachable],
    [
      'a wrong field',
      new ApiError(422, { message: 'long', details: { causes: [{ field: 'spec.x', message: 'Required' }] } }),
      'refused: spec.x: Required',
      ExitCode.Failed,
    ],
    ['nobody there', new Error('fetch failed', { cause: refused }), 'cannot be reached: the connection was refused', ExitCode.Unreachable],
    ['another server', new UnusableAnswer('NotKubernetes', 'no JSON'), 'address of a Kubernetes API server', ExitCode.Unreachable],
    ['credentials', new KubeconfigError('the plugin failed'), '--kubeconfig: the plugin failed', ExitCode.Unreachable],
    [
      'credentials, of a request',
      new Error('GET /x: no answer', { cause: new KubeconfigError('the plugin failed', { cause: refused }) }),
      '--kubeconfig: the plugin failed',
      ExitCode.Unreachable,
    ],
  ])('%s', (_name, error, words, code) => {
    const judged = trouble(error);
    expect(judged.said).toContain(words);
    expect(judged.code).toBe(code);
  });

  test('what has been said already, and our own mistakes, stay what they are', () => {
    const said = new CommandError('no', 7);
    expect(troubleWith('x', 'y', said)).toBe(said);
    const mistake = new TypeError('undefined is not a function');
    expect(troubleWith('x', 'y', mistake)).toBe(mistake);
  });
});

test('a flag that cannot be used, such as a context that there is not, is no trouble of a cluster', () => {
  const error = new FlagError('--kubeconfig: it has no context "nosuch"; it has: east', { cause: new Error('inner') });
  expect(troubleWith('the manager cluster', 'https://x', error)).toBe(error);
});
