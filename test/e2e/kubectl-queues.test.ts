/**
 * What an administrator who comes from Kueue hears from kubectl: of fields that Switchyard has not, and of quotas that contradict
 * themselves. With the newest kubectl of this machine, against an embedded control plane that has the chart's definitions.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { crdFiles } from '../../scripts/generate-crds.ts';
import { createKubectl, findKubectls, type Kubectl } from '../support/kubectl.ts';
import { type ServerUnderTest, startServerUnderTest } from '../support/server-under-test.ts';

const TEST_LIMIT_MS = 300_000;
const kubectls = findKubectls(process.env).slice(-1);
const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-kubectl-'));
const kubeconfig = path.join(directory, 'kubeconfig');
let cluster: ServerUnderTest;

beforeAll(async () => {
  if (kubectls.length === 0) return;
  cluster = await startServerUnderTest({ controllers: [] });
  writeFileSync(kubeconfig, cluster.kubeconfig);
}, TEST_LIMIT_MS);

afterAll(async () => {
  await cluster?.close();
  rmSync(directory, { recursive: true, force: true });
});

test.runIf(kubectls.length === 0)('kubectl', ({ skip }) => skip('no kubectl on the PATH, and $KUBECTL_BINARIES names none'));

describe.each(kubectls)('kubectl $version', { timeout: TEST_LIMIT_MS }, (binary) => {
  const kubectl: Kubectl = createKubectl(binary, kubeconfig, 'default', path.join(directory, 'cache'));
  const queue = (name: string, spec: object): string =>
    stringify({ apiVersion: 'switchyard.dev/v1alpha1', kind: 'ClusterQueue', metadata: { name }, spec });
  const unknown = { namespaceSelector: {}, unheardOf: { rule: 'Any' } };

  test('takes the definitions of the chart', async () => {
    for (const [name, text] of crdFiles()) {
      expect(await kubectl('apply -f -', { stdin: text }), name).toMatch(/ created\n$/);
    }
    expect(await kubectl('wait crd --all --for=condition=Established --timeout=60s')).toMatch(/condition met/);
  });

  test('refuses a field that Switchyard has not, by name', async () => {
    expect(await kubectl.refused('create -f -', { stdin: queue('strict', unknown) })).toMatch(/unknown field "spec\.unheardOf"/);
  });

  test('warns of it where it is told to, and the field is dropped', async () => {
    const { code, stdout, stderr } = await kubectl.attempt('create --validate=warn -f -', { stdin: queue('warned', unknown) });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'clusterqueue.switchyard.dev/warned created\n' });
    expect(stderr).toMatch(/Warning: unknown field "spec\.unheardOf"/);
    expect(await kubectl("get clusterqueue warned -o 'jsonpath={.spec.unheardOf}'")).toBe('');
  });

  test('shows what contradicts itself in the words of the rule', async () => {
    const resources = [{ name: 'cpu', nominalQuota: -1 }];
    const resourceGroups = [{ coveredResources: ['cpu'], flavors: [{ name: 'a', resources }] }];
    expect(await kubectl.refused('create -f -', { stdin: queue('negative', { resourceGroups }) })).toMatch(
      /spec\.resourceGroups\[0\]\.flavors\[0\]\.resources\[0\]\.nominalQuota: .*nominalQuota must not be negative; write 0 or more/,
    );
  });
});
