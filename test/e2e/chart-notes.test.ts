/** Goal: whoever types what the notes of the charts say, as it stands there, has a Job that has run on another cluster. */
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { JOBS, SECRETS } from '../../shared/api/resources.ts';
import { hasTrueCondition } from '../../shared/kube/conditions.ts';
import { CHARTS, type Chart } from '../support/helm.ts';
import { canInstall, ROOT, startInstallation, type ClusterName, type Installation } from '../support/installation.ts';
import type { InstalledCluster } from '../support/installed-cluster.ts';
import { ReadersShell } from '../support/shell-document.ts';

const LIMIT_MS = 300_000;

describe.skipIf(!canInstall() || process.env['SWITCHYARD_SLOW'] !== '1')('the notes of the charts', () => {
  let installation: Installation;
  beforeAll(async () => void (installation = await startInstallation()), LIMIT_MS);
  afterAll(() => installation[Symbol.asyncDispose]());

  /** Installs a chart, and types its commands on that cluster. */
  async function follow(chart: Chart, name: ClusterName): Promise<string> {
    const cluster = installation.clusters[name];
    const printed = await cluster.helm('install', `switchyard-${chart}`, CHARTS[chart], '--namespace', 'switchyard', '--create-namespace');
    const commands = commandsOf(printed);
    const shell = new ReadersShell(installation.folder, {
      HOME: installation.folder,
      PATH: [path.join(installation.folder, 'bin'), process.env['PATH']].join(path.delimiter),
      KUBECONFIG: cluster.kubeconfigFile,
    });
    await fillTokenSecrets(cluster, shell);
    for (const command of commands) {
      const { code, output } = await shell.run(command);
      expect(code, `${command}\n${output}\n${installation.said()}`).toBe(0);
    }
    return printed;
  }

  test('lead from two empty clusters to a Job that has run', { timeout: LIMIT_MS }, async () => {
    symlinkSync(path.join(ROOT, 'examples'), path.join(installation.folder, 'examples'));
    const ofWorker = await follow('worker', 'east');
    expect(commandsOf(ofWorker).length).toBeGreaterThan(3);
    const ofManager = await follow('manager', 'home');
    expect(ofManager).toContain('No Redis is named, so the manager takes no submissions');
    const { home, east } = installation.clusters;
    const { status } = await home.client.get(WORKER_CLUSTERS, { namespace: '', name: 'east' });
    expect(hasTrueCondition(status?.conditions, 'Ready')).toBe(true);
    expect((await home.client.get(JOBS, { namespace: 'default', name: 'pi' })).status).toMatchObject({ succeeded: 4 });
    expect((await east.client.list(JOBS)).items).toEqual([]);
  });
});

/** What the token controller of a cluster does, which the embedded control plane has not: a Secret for an account gets a token of it. */
async function fillTokenSecrets({ client }: InstalledCluster, shell: ReadersShell): Promise<void> {
  for (const { metadata, type } of (await client.list(SECRETS, { namespace: 'switchyard' })).items) {
    if (type !== 'kubernetes.io/service-account-token') continue;
    const account = metadata.annotations?.['kubernetes.io/service-account.name'] ?? '';
    const { code, output } = await shell.run(`
FILLED_TOKEN=$(kubectl -n switchyard create token ${account})
FILLED_CA=$(kubectl config view --minify --raw -o jsonpath='{.clusters[0].cluster.certificate-authority-data}')
kubectl -n switchyard patch secret ${metadata.name} -p "{\\"data\\":{\\"token\\":\\"$(printf %s "$FILLED_TOKEN" | base64 -w0)\\",\\"ca.crt\\":\\"$FILLED_CA\\"}}"`);
    expect(code, output).toBe(0);
  }
}

/** The lines of notes that are indented by two and begin with a word: what is to be typed. What goes on from them is indented further, or ends with a backslash. */
function commandsOf(printed: string): string[] {
  const notes = printed.slice(printed.indexOf('\nNOTES:\n'));
  return notes.split('\n').flatMap((line) => (/^ {2}(?:[A-Z]+=|kubectl |echo |npm )/.test(line) ? [line.trim()] : [])); // prettier-ignore
}

test.skipIf(canInstall())('the notes of the charts are followed by the superuser, with a kubectl', ({ skip }) =>
  skip('run as root, with kubectl on the PATH'),
);
