/**
 * Two managers as processes beside one cluster sign users in at a provider over HTTPS, whose authority is in a file. What users may see is
 * what RBAC gives their name and groups.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Agent, fetch as fetchFrom } from 'undici';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { TestAuthority } from '../support/certificates.ts';
import { ChildProgram } from '../support/child-program.ts';
import { CookieJar } from '../support/cookie-jar.ts';
import { createCrds } from '../support/crds.ts';
import { CLIENT, createOidcProvider } from '../support/oidc-provider.ts';
import { startServerUnderTest } from '../support/server-under-test.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-oidc-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const EXTERNAL = 'https://switchyard.test/';
const GROUP_SEES = {
  ClusterRole: { rules: [{ apiGroups: ['batch'], resources: ['jobs'], verbs: ['list'] }] },
  ClusterRoleBinding: {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'dev' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'oidc:dev' }],
  },
};

test('a user signs in through one manager, and is known to the other by name and groups', { timeout: 120_000 }, async () => {
  const cluster = await startServerUnderTest();
  onTestFinished(() => cluster.close());
  await createCrds(cluster.client);
  for (const [kind, parts] of Object.entries(GROUP_SEES))
    await cluster.client.raw({
      method: 'POST',
      path: `/apis/rbac.authorization.k8s.io/v1/${kind.toLowerCase()}s`,
      body: { apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata: { name: 'dev' }, ...parts },
    });
  const authority = await TestAuthority.create();
  const { certPem: cert, keyPem: key } = await authority.sign('id', ['127.0.0.1']);
  const provider = await createOidcProvider(
    { email: 'ann@b.example', email_verified: true, groups: ['dev', 'system:masters'] },
    { cert, key },
  );
  onTestFinished(() => provider.close());
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(directory, name), text);
    return path.join(directory, name);
  };
  const flags = [
    `--kubeconfig=${file('kubeconfig', cluster.kubeconfig)}`,
    '--metrics-bind-address=0',
    '--dashboard-bind-address=127.0.0.1:0',
    `--dashboard-external-url=${EXTERNAL}`,
    `--dashboard-oidc-issuer-url=${provider.issuer}`,
    `--dashboard-oidc-client-id=${CLIENT.id}`,
    `--dashboard-oidc-client-secret-file=${file('secret', 'a-secret')}`,
    `--dashboard-oidc-ca-file=${file('ca.crt', authority.certPem)}`,
    '--dashboard-oidc-username-claim=email',
    '--dashboard-oidc-username-prefix=oidc:',
    '--dashboard-oidc-groups-claim=groups',
    '--dashboard-oidc-groups-prefix=oidc:',
    '--leader-elect',
    '--leader-elect-resource-namespace=default',
  ];
  provider.knobs.secret = 'a-secret';
  const printed: string[] = [];
  const start = (name: string): ChildProgram => {
    const program = new ChildProgram(name, [process.execPath, '--disable-warning=ExperimentalWarning', 'manager/main.ts', ...flags]);
    program.onLine((line) => printed.push(line));
    return program;
  };
  await using one = start('one');
  await using other = start('other');
  const [first, second] = await Promise.all(
    [one, other].map((each) =>
      each.find((line) => (line.includes('the dashboard is served') ? /"url":"(http:[^"]+)"/.exec(line)?.[1] : undefined)),
    ),
  );
  const browser = new CookieJar();
  const begin = (): Promise<Response> => browser.fetch(`${first}/oidc/sign-in?place=${encodeURIComponent('#/jobs')}`);
  // It reads its key at the same time.
  await expect.poll(async () => (await begin()).status, { timeout: 30_000, interval: 100 }).toBe(303);
  const there = (await begin()).headers.get('location') ?? '';
  expect(there).toContain(`${provider.issuer}/authorize?`);
  const agent = new Agent({ connect: { ca: authority.certPem } });
  onTestFinished(() => agent.close());
  const back = (await fetchFrom(there, { redirect: 'manual', dispatcher: agent })).headers.get('location') ?? '';
  const home = await browser.fetch(back.replace(EXTERNAL, `${second}/`));
  expect(home.headers.get('location')).toBe(`${EXTERNAL}#/jobs`);
  for (const url of [first, second]) {
    const viewer = (await (await browser.fetch(`${url}/api/v1/viewer`)).json()) as object;
    expect(viewer).toMatchObject({ name: 'oidc:ann@b.example', namespaces: 'All', queues: 'None', clusters: 'None' });
  }
  for (const secret of ['a-secret', ...provider.secrets]) expect(printed.join('\n')).not.toContain(secret);
});
