/** The dashboard of a run that stays up: its page, a visitor who may look, and the address that lets him in. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Resource } from '../../../shared/api/resources.ts';
import type { RawClient, WriteClient } from '../../../shared/kube/client.ts';
import { MANAGER_USERNAME } from './manager-account.ts';
import { SYSTEM_NAMESPACE } from './set-up.ts';

const VISITOR = 'visitor';
/** As long as a day of trying things out. */
const TOKEN_SECONDS = 12 * 3_600;
const RBAC = 'rbac.authorization.k8s.io';
const rbac = (kind: string): Resource => ({ group: RBAC, version: 'v1', plural: `${kind.toLowerCase()}s`, kind, namespaced: false });

/** All that the dashboard shows, and nothing that is secret. */
const VISITOR_RULES = [
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['pods', 'pods/log', 'events', 'namespaces'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['switchyard.dev'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
];
/** The manager asks who looks, and what he may see. */
const REVIEW_RULES = [
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  { apiGroups: [''], resources: ['events'], verbs: ['list'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
];

/** Makes an account that may look at everything but Secrets, lets the manager ask about it, and returns a token of it. */
export async function createVisitor(client: WriteClient & RawClient): Promise<string> {
  const account = { namespace: SYSTEM_NAMESPACE, name: VISITOR };
  await client.create(
    { group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true },
    { metadata: account },
  );
  const grant = async (name: string, rules: readonly object[], subject: object): Promise<void> => {
    const role: object = { metadata: { name }, rules };
    const binding: object = { metadata: { name }, roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name }, subjects: [subject] };
    await client.create(rbac('ClusterRole'), role as never);
    await client.create(rbac('ClusterRoleBinding'), binding as never);
  };
  await grant(VISITOR, VISITOR_RULES, { kind: 'ServiceAccount', ...account });
  await grant('switchyard-reviews', REVIEW_RULES, { apiGroup: RBAC, kind: 'User', name: MANAGER_USERNAME });
  const answer = await client.raw({
    method: 'POST',
    path: `/api/v1/namespaces/${SYSTEM_NAMESPACE}/serviceaccounts/${VISITOR}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: TOKEN_SECONDS } },
  });
  return (JSON.parse(answer) as { status: { token: string } }).status.token;
}

/**
 * Builds the page where its sources are newer than it; a package brings it. Undefined: it is there; else why it is not. A run goes on
 * without it.
 */
export function buildPage(root: string): Promise<string | undefined> {
  const script = path.join(root, 'scripts', 'build-page.ts');
  if (!existsSync(script)) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [script], { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) => resolve(code === 0 ? undefined : said.trim().split('\n').at(-1) || `exit status ${code}`));
  });
}

/** The part behind # goes to no server; the page takes the token out of it at once. */
export const dashboardUrl = (port: number, token: string): string => `http://127.0.0.1:${port}/#/yard?token=${token}`;
