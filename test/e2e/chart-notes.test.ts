/** Goal: whoever types what the notes of the charts say, as it stands there, has a Job that has run on another cluster. */
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { hasTrueCondition } from '../../shared/kube/conditions.ts';
import { CHARTS, type Chart } from '../support/helm.ts';
import { canInstall, ROOT, startInstallation, type ClusterName, type Installation } from '../support/installation.ts';
import { until } from '../support/installed-jobs.ts';
import type { InstalledCluster } from '../support/installed-cluster.ts';
import { ReadersShell } from '../support/shell-document.ts';
import { isSlow } from '../support/slow.ts';

const LIMIT_MS = 300_000;

describe.skipIf(!canInstall() || !isSlow)('the notes of the charts', () => {
  let installation: Installation;
  beforeAll(async () => void (installation = await startInstallation()), LIMIT_MS);
  afterAll(() => installation[Symbol.asyncDispose](), LIMIT_MS);

  /** Installs a chart, and types its commands on that cluster. */
  async function follow(chart: Chart, name: ClusterName): Promise<string> {
    const cluster = installation.clusters[name];
    const printed = await cluster.helm('install', `switchyard-${chart}`, CHARTS[chart], '--namespace', 'switchyard', '--create-namespace');
    await type(cluster, commandsOf(printed));
    return printed;
  }

  /** One after the other in a shell, in which variables stay. Returns what the last has printed. */
  async function type(cluster: InstalledCluster, commands: readonly string[]): Promise<string> {
    const shell = new ReadersShell(installation.folder, {
      HOME: installation.folder,
      PATH: [path.join(installation.folder, 'bin'), process.env['PATH']].join(path.delimiter),
      KUBECONFIG: cluster.kubeconfigFile,
    });
    let printed = '';
    for (const command of commands) {
      const { code, output } = await shell.run(command);
      expect(code, `${command}\n${output}\n${installation.said()}`).toBe(0);
      printed = output;
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
    await until('nothing is left on east', async () => (await east.client.list(JOBS)).items.length === 0);

    // With a Redis they say nothing of one that is missing, and the manager takes submissions; one for a trial they warn of.
    const upgrade = (...args: string[]): Promise<string> =>
      home.helm('upgrade', 'switchyard-manager', CHARTS.manager, '--namespace', 'switchyard', ...args);
    expect(await upgrade('--set', 'redis.evaluation.enabled=true', '--dry-run')).toContain('## This release runs a Redis of its own');
    const shared = ['--set', 'config.submissionQueue=switchyard-submissions', '--set', 'config.submissionNamespaces={default}'];
    const withRedis = await upgrade('--set', `redis.url=${installation.redis.url}`, ...shared);
    expect(withRedis).not.toMatch(/No Redis is named|a Redis of its own/);
    // Whoever upgrades has done before what comes next after an installation.
    expect(ofManager).not.toContain('Earlier charts');
    expect(ofManager).toContain('Join a worker cluster');
    expect(withRedis).not.toContain('Join a worker cluster');
    expect(withRedis).toMatch(/^2\. Look whether all is well/m);
    const announced = await upgrade('--set', `redis.url=${installation.redis.url}`, '--set', 'api.enabled=true', '--dry-run');
    expect(announced).toMatch(/Earlier charts also served .*\n[^]*The HTTP API is announced at the address of its Service/);
    const rollout = commandsOf(withRedis).filter((command) => command.includes('rollout status'));
    expect(await type(home, rollout)).toContain('successfully rolled out');
    await until('submissions are taken', async () =>
      home.kubelet.pods().some(({ lines }) => lines.some((line) => line.includes('submissions are taken from a queue'))),
    );
  });
});

/**
 * The lines of notes that are indented by two and begin with a word: what is to be typed. What goes on from them is indented further, or
 * ends with a backslash.
 */
function commandsOf(printed: string): string[] {
  const notes = printed.slice(printed.indexOf('\nNOTES:\n'));
  return notes.split('\n').flatMap((line) => (/^ {2}(?:[A-Z]+=|kubectl |echo |npm )/.test(line) ? [line.trim()] : [])); // prettier-ignore
}

test.skipIf(canInstall())('the notes of the charts are followed by the superuser, with a kubectl', ({ skip }) =>
  skip('run as root, with kubectl on the PATH'),
);
