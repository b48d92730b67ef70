import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A kubeconfig for one server and one bearer token. */
export const kubeconfigFor = (
  server: { readonly url: string; readonly caPem?: string },
  token: string,
  name = 'embedded',
): string => `apiVersion: v1
kind: Config
clusters:
- name: ${name}
  cluster:
    server: ${server.url}${server.caPem === undefined ? '' : `\n    certificate-authority-data: ${Buffer.from(server.caPem).toString('base64')}`}
contexts:
- name: ${name}
  context:
    cluster: ${name}
    user: ${name}
current-context: ${name}
users:
- name: ${name}
  user:
    token: ${token}
`;

/** A bearer token that nobody guesses. It is no part of what a seed decides. */
export const newToken = (): string => randomBytes(24).toString('base64url');

/** The token of a data directory, so that a kubeconfig outlives a restart. */
export function rememberedToken(directory: string): string {
  const file = path.join(directory, 'admin-token');
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  mkdirSync(directory, { recursive: true });
  const token = newToken();
  writeFileSync(file, token, { mode: 0o600 });
  return token;
}
