import { expect, test } from 'vitest';
import { kubeconfigProblem } from '../../../../manager/dispatch/worker-kubeconfig.ts';

test('a kubeconfig with its credentials inside is accepted', () => {
  expect(
    kubeconfigProblem(
      'clusters: [{name: a, cluster: {server: "https://x", certificate-authority-data: eA==}}]\nusers: [{name: a, user: {token: t}}]',
    ),
  ).toBeUndefined();
});

test.each([
  ['users: [{name: a, user: {exec: {command: sh}}}]', /exec is not allowed/],
  ['users: [{name: a, user: {tokenFile: /etc/passwd}}]', /tokenFile is not allowed/],
  ['users: [{name: a, user: {client-key: /k}}]', /client-key is not allowed/],
  ['clusters: [{name: a, cluster: {certificate-authority: /ca}}]', /certificate-authority is not allowed/],
  ['- a', /not a YAML mapping/],
  ['a: [', /not YAML/],
])('a kubeconfig that would make the manager run or read something is refused: %s', (text, problem) => {
  expect(kubeconfigProblem(text)).toMatch(problem);
});
