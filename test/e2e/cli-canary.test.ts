/**
 * Goal: one command tells whether every cluster takes a Job and brings its end home, as `helm test` runs it, by the program against
 * real managers and workers.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { CANARY_LABEL } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { NAMESPACE } from '../scenario/whole-world.ts';
import { ofKind, renderChart, type Rendered } from '../support/helm.ts';
import { createCliWorld, type CliWorld } from './cli-world.ts';

const LIMIT_MS = 120_000;
let cli: CliWorld;

beforeAll(async () => {
  cli = await createCliWorld(['east', 'west']);
}, LIMIT_MS);
afterAll(() => cli.close(), LIMIT_MS);

const home = () => cli.world.home;
const setState = (name: string, state: string) =>
  home().patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { spec: { state } } });
const left = async (): Promise<number> => (await home().list(JOBS, { namespace: NAMESPACE, labelSelector: CANARY_LABEL })).items.length;

test('a canary goes through every cluster, is told in a table, and leaves nothing behind', { timeout: LIMIT_MS }, async () => {
  const { code, stdout } = await cli.runProcess(['canary', '-n', NAMESPACE]);
  expect(stdout).toMatch(/^CLUSTER +OUTCOME +QUEUED +SENT +STARTED +RAN +IN ALL\neast +Complete +.*\nwest +Complete +.*\n$/);
  expect(code).toBe(0);
  await cli.until(async () => (await left()) === 0);
});

test('a cluster that takes no Jobs is left out, unless it is asked for', { timeout: LIMIT_MS }, async () => {
  await setState('west', 'Cordoned');
  await cli.world.clock.advance(2_000);
  const all = await cli.run(['canary', '-n', NAMESPACE, '-o', 'json']);
  expect(all.stderr).toContain('west is left out: its state is Cordoned');
  expect(JSON.parse(all.stdout)).toMatchObject({
    canaries: [{ cluster: 'east', outcome: 'Complete', seconds: { finished: expect.any(Number) } }],
  });
  expect(all.code).toBe(0);
  expect((await cli.run(['canary', 'west', '-n', NAMESPACE])).code).toBe(1);
  await setState('west', 'Active');
});

test('one that does not come through in time fails, says what it waits for, and is deleted', { timeout: LIMIT_MS }, async () => {
  const { code, stdout } = await cli.run(['canary', 'east', '-n', NAMESPACE, '-q', 'nowhere', '--timeout', '2s']);
  expect(stdout).toMatch(/^east +TimedOut .*LocalQueueNotFound/m);
  expect(code).toBe(1);
  await cli.until(async () => (await left()) === 0);
});

const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' };
const ACCOUNT = { group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true };
/** What the chart gives the pod of `helm test`, and nothing else. */
async function grant(rendered: readonly Rendered[], name: string): Promise<string> {
  const kinds = [
    { ...RBAC, plural: 'clusterroles', kind: 'ClusterRole', namespaced: false },
    { ...RBAC, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding', namespaced: false },
    { ...RBAC, plural: 'roles', kind: 'Role', namespaced: true },
    { ...RBAC, plural: 'rolebindings', kind: 'RoleBinding', namespaced: true },
    ACCOUNT,
  ];
  for (const kind of kinds) {
    const objects = ofKind(rendered, kind.kind).filter(({ metadata }) => metadata.name === name);
    expect(objects, kind.kind).toHaveLength(1);
    for (const object of objects) await home().create(kind, object as never);
  }
  const answer = await home().raw({
    method: 'POST',
    path: `/api/v1/namespaces/switchyard/serviceaccounts/${name}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  });
  const { status } = JSON.parse(answer) as { status: { token: string } };
  const kubeconfig = parse(readFileSync(cli.kubeconfig, 'utf8')) as { users: { name: string; user: object }[] };
  const file = path.join(cli.folder, 'helm-test.kubeconfig');
  writeFileSync(file, stringify({ ...kubeconfig, users: kubeconfig.users.map((user) => ({ ...user, user: { token: status.token } })) }));
  return file;
}

test('the pod of helm test does the same, with the rights that the chart gives it and no others', { timeout: LIMIT_MS }, async () => {
  const rendered = renderChart('manager', 'redis.url=redis://redis:6379', `canary.queue=${NAMESPACE}/main`);
  const [pod] = ofKind(rendered, 'Pod') as unknown as {
    spec: { serviceAccountName: string; containers: { command: string[]; args: string[] }[] };
  }[];
  const [container] = pod?.spec.containers ?? [];
  expect(container?.command).toEqual(['node', 'manager/cli/main.js']);
  const kubeconfig = await grant(rendered, pod?.spec.serviceAccountName ?? '');
  const { code, stdout, stderr } = await cli.run(container?.args ?? [], { kubeconfig });
  expect({ code, stderr: stderr.replaceAll(/^team\/switchyard-canary-.*\n/gm, '') }).toEqual({ code: 0, stderr: '' });
  expect(stdout.match(/Complete/g)).toHaveLength(2);
  const other = await cli.run(['get', 'queues', '-n', NAMESPACE], { kubeconfig });
  expect(other.stderr).toContain('forbidden');
});
