/** Goal: what keeps the programs from running is said first, with its remedy, and nothing that follows from it is taken for the cause. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Check } from '../../../../../manager/cli/checks.ts';
import { judgeAbsence, judgeDeployment, referencesOf, type Deployment } from '../../../../../manager/cli/doctor/deployment-judgements.ts';
import { judgeReleases, releaseOf } from '../../../../../manager/cli/doctor/release-judgements.ts';
import { runDoctor } from '../../../../../manager/cli/doctor/run.ts';
import type { Pod } from '../../../../../shared/api/kubernetes.ts';
import { NAMESPACES, PODS, SECRETS, type Resource } from '../../../../../shared/api/resources.ts';
import { systemClock } from '../../../../../shared/runtime/clock.ts';
import { createCrds } from '../../../../support/crds.ts';
import { startCluster, type EmbeddedCluster } from '../../../../support/embedded-cluster.ts';
import { ofKind, renderChart } from '../../../../support/helm.ts';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const LABELS = { app: 'x', 'app.kubernetes.io/part-of': 'switchyard' };
const IMAGE = 'registry.example/switchyard:0.1.0';
const deployment = (readyReplicas: number, more: { replicas?: number; conditions?: object[] } = {}): Deployment =>
  ({
    metadata: { name: 'switchyard-manager', namespace: 'switchyard' },
    spec: {
      replicas: more.replicas ?? 2,
      selector: { matchLabels: { app: 'x' } },
      template: { spec: { containers: [{ name: 'manager', image: IMAGE }] } },
    },
    status: { readyReplicas, conditions: more.conditions ?? [] },
  }) as unknown as Deployment;
const pod = (status: object, creationTimestamp = '2026-01-01T00:00:00Z'): Pod =>
  ({
    metadata: { name: 'switchyard-manager-1', namespace: 'switchyard', labels: LABELS, creationTimestamp },
    spec: {},
    status,
  }) as unknown as Pod;
const waiting = (reason: string, message = '', lastState: object = {}): object => ({
  containerStatuses: [{ state: { waiting: { reason, message } }, lastState }],
});

describe('a Deployment', () => {
  test.each<[string, Deployment, Pod[], Check['result'], RegExp, RegExp]>([
    ['is ready', deployment(2), [pod({})], 'ok', /^2\/2 ready, image registry\.example\/switchyard:0\.1\.0$/, /^$/],
    [
      'has an image that nobody can pull',
      deployment(0),
      [pod(waiting('ImagePullBackOff', 'Back-off pulling image "registry.example/switchyard:0.1.0"'))],
      'wrong',
      /^0\/2 ready, image registry\.example\/switchyard:0\.1\.0: pod switchyard-manager-1: ImagePullBackOff: Back-off/,
      /image\.repository and image\.tag/,
    ],
    [
      'has a program that ends again and again',
      deployment(0),
      [pod(waiting('CrashLoopBackOff', 'back-off 40s', { terminated: { exitCode: 2, reason: 'Error' } }))],
      'wrong',
      /CrashLoopBackOff: back-off 40s; it ended with 2 \(Error\)$/,
      /logs switchyard-manager-1 --previous/,
    ],
    [
      'fits nowhere',
      deployment(1),
      [pod({ conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes: Insufficient cpu' }] })],
      'note',
      /^1\/2 ready, .*fits on no node: 0\/3 nodes: Insufficient cpu$/,
      /nodeSelector/,
    ],
    [
      'may not make pods',
      deployment(0, { conditions: [{ type: 'ReplicaFailure', status: 'True', message: 'exceeded quota: compute' }] }),
      [],
      'wrong',
      /no pod can be made: exceeded quota: compute$/,
      /ResourceQuota/,
    ],
    [
      'is updated to what does not run',
      deployment(2),
      [pod(waiting('ErrImagePull'))],
      'note',
      /^2\/2 ready, but .*ErrImagePull/,
      /helm upgrade/,
    ],
    [
      'has begun a moment ago',
      deployment(0),
      [pod(waiting('ContainerCreating'), '2026-01-01T00:59:30Z')],
      'note',
      /are starting$/,
      /minute/,
    ],
    ['never becomes ready', deployment(0), [pod({})], 'wrong', /do not become ready$/, /logs deployment\/switchyard-manager/],
    ['has no pods at all', deployment(0), [], 'wrong', /it has no pods$/, /describe deployment/],
    ['is scaled to nothing', deployment(0, { replicas: 0 }), [], 'wrong', /scaled to 0/, /--replicas=2/],
  ])('%s', (_, each, pods, result, found, remedy) => {
    const check = judgeDeployment(each, pods, NOW);
    expect({ ...check, remedy: check.remedy ?? '' }).toMatchObject({
      check: 'deployment switchyard-manager',
      result,
      found: expect.stringMatching(found),
      remedy: expect.stringMatching(remedy),
    });
  });

  test('waits for Secrets and ConfigMaps that its pods need, and not for those that may be absent', () => {
    const template = {
      spec: {
        containers: [
          {
            name: 'manager',
            env: [{ valueFrom: { secretKeyRef: { name: 'a' } } }, { valueFrom: { configMapKeyRef: { name: 'b', optional: true } } }],
          },
        ],
        volumes: [
          { secret: { secretName: 'c' } },
          { secret: { secretName: 'd', optional: true } },
          { configMap: { name: 'e' } },
          { projected: { sources: [{ secret: { name: 'f' } }, { configMap: { name: 'g' } }, {}] } },
        ],
      },
    };
    const each = { ...deployment(0), spec: { ...deployment(0).spec, template } } as Deployment;
    expect(referencesOf(each).map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'Secret c',
      'Secret f',
      'Secret a',
      'ConfigMap e',
      'ConfigMap g',
    ]);
    expect(judgeDeployment(each, [pod(waiting('ContainerCreating'))], NOW, [{ kind: 'Secret', name: 'c' }])).toMatchObject({
      result: 'wrong',
      found: expect.stringContaining('Secret c, which its pods need, does not exist'),
      remedy: expect.stringContaining('create secret generic c'),
    });
  });

  test.each([
    ['is in another namespace', ['other'], 'a/b', 'note', /but in other/],
    [
      'is not there although the webhook calls it',
      [],
      'switchyard/switchyard-manager',
      'wrong',
      /webhook calls Service switchyard\/switchyard-manager/,
    ],
    ['may run elsewhere', [], undefined, 'note', /not installed, or runs elsewhere/],
  ])('%s', (_, elsewhere, service, result, found) => {
    expect(judgeAbsence('switchyard', elsewhere, service)).toMatchObject({ result, found: expect.stringMatching(found) });
  });
});

describe('a release of Helm', () => {
  const secret = (revision: number, status: string, chart = 'switchyard-manager') => ({
    metadata: { name: `r.v${revision}`, namespace: 'switchyard', labels: { owner: 'helm', name: 'r', status, version: String(revision) } },
    data: {
      release: Buffer.from(gzipSync(JSON.stringify({ chart: { metadata: { name: chart } } })).toString('base64')).toString('base64'),
    },
  });
  const judge = (...secrets: ReturnType<typeof secret>[]): Check[] =>
    judgeReleases(
      secrets.flatMap((each) => releaseOf(each as never) ?? []),
      'switchyard',
    );
  test('that failed half way is repeated by an upgrade', () => {
    expect(judge(secret(1, 'failed'))).toMatchObject(
      [{ result: 'wrong', found: /half way/, remedy: /helm upgrade --install r \(chart switchyard-manager\) -n switchyard/ }].map(
        (each) => ({ ...each, found: expect.stringMatching(each.found), remedy: expect.stringMatching(each.remedy) }),
      ),
    );
  });
  test('of which an upgrade failed has one that holds', () => {
    expect(judge(secret(1, 'superseded'), secret(2, 'deployed'), secret(3, 'failed'))).toMatchObject([
      { result: 'note', found: expect.stringContaining('revision 2'), remedy: expect.stringContaining('helm rollback r') },
    ]);
  });
  test('that was cut off is uninstalled first', () => {
    expect(judge(secret(1, 'pending-install'))).toMatchObject([{ result: 'note', remedy: expect.stringContaining('helm uninstall r') }]);
    expect(judge(secret(1, 'deployed'), secret(2, 'pending-upgrade'))).toMatchObject([{ remedy: expect.stringContaining('rollback') }]);
  });
  test('that is whole, or of another chart, is no matter of ours', () => {
    expect(judge(secret(1, 'superseded'), secret(2, 'deployed'))).toEqual([]);
    expect(judge(secret(1, 'failed', 'postgresql'))).toEqual([]);
    expect(releaseOf({ metadata: { name: 's', namespace: 'n' } } as never)).toBeUndefined();
    expect(judge({ ...secret(1, 'failed'), data: { release: 'nonsense' } })).toEqual([]);
  });
});

describe('doctor', () => {
  const builtIn = (kind: string): Resource => ({ group: 'apps', version: 'v1', plural: 'deployments', kind, namespaced: true });
  let cluster: EmbeddedCluster;
  let folder: string;
  beforeEach(async () => {
    cluster = await startCluster(systemClock);
    folder = mkdtempSync(path.join(tmpdir(), 'switchyard-doctor-'));
    writeFileSync(path.join(folder, 'kubeconfig'), (await cluster.plane.listen()).kubeconfig);
    await createCrds(cluster.client);
    await cluster.client.create(NAMESPACES, { metadata: { name: 'switchyard' } });
  });
  afterEach(async () => {
    await cluster.plane.close();
    rmSync(folder, { recursive: true });
  });

  async function doctor(): Promise<Check[]> {
    let said = '';
    const output = { isTerminal: false, width: Infinity, colours: false, write: async (text: string) => void (said += text) };
    const session = {
      output,
      errors: output,
      input: Readable.from([]),
      environment: {},
      signal: new AbortController().signal,
      now: Date.now,
    };
    const choice = { kubeconfig: path.join(folder, 'kubeconfig'), context: undefined, 'manager-namespace': 'switchyard' };
    await runDoctor({ ...choice, output: 'json', redis: undefined }, session);
    return (JSON.parse(said) as { checks: Check[] }).checks;
  }

  test('names both Deployments whose image nobody can pull before all else of the installation, and no cert-manager', async () => {
    for (const chart of ['manager', 'worker'] as const) {
      const rendered = renderChart(chart);
      const [made] = ofKind(rendered, 'Deployment');
      const { metadata } = await cluster.client.create(builtIn('Deployment'), made as never);
      if (made === undefined) throw new Error(`the chart of the ${chart} renders no Deployment`);
      const { selector } = made['spec'] as { selector: { matchLabels: Record<string, string> } };
      const labels = { ...selector.matchLabels, 'app.kubernetes.io/part-of': 'switchyard' };
      const container = { name: chart, image: IMAGE };
      const created = await cluster.client.create(PODS, {
        metadata: { name: `${metadata.name}-1`, namespace: 'switchyard', labels },
        spec: { containers: [container] },
      });
      const status = {
        phase: 'Pending',
        containerStatuses: [
          {
            name: chart,
            image: IMAGE,
            imageID: '',
            ready: false,
            restartCount: 0,
            state: { waiting: { reason: 'ImagePullBackOff', message: 'Back-off' } },
          },
        ],
      };
      await cluster.client.patchStatus(PODS, created.metadata as never, { type: 'merge', body: { status } });
      for (const object of rendered.filter(({ kind }) => kind.endsWith('WebhookConfiguration')))
        await cluster.client.create(
          {
            group: 'admissionregistration.k8s.io',
            version: 'v1',
            plural: `${object.kind.toLowerCase()}s`,
            kind: object.kind,
            namespaced: false,
          },
          object as never,
        );
    }
    const checks = await doctor();
    expect(checks.slice(0, 2)).toMatchObject([
      { check: 'deployment test-switchyard-manager', result: 'wrong', found: expect.stringContaining('ImagePullBackOff: Back-off') },
      { check: 'deployment test-switchyard-worker', result: 'wrong', remedy: expect.stringContaining('image.repository') },
    ]);
    expect(JSON.stringify(checks)).not.toMatch(/cert-manager|has a Lease/);
  });

  test('says first that the Deployment is not there, where the webhook calls it, or an install failed half way', async () => {
    expect((await doctor()).find(({ check }) => check === 'manager')).toMatchObject({
      result: 'note',
      found: expect.stringContaining('no Deployment'),
    });
    const [webhook] = ofKind(renderChart('manager'), 'MutatingWebhookConfiguration');
    await cluster.client.create(
      {
        group: 'admissionregistration.k8s.io',
        version: 'v1',
        plural: 'mutatingwebhookconfigurations',
        kind: 'MutatingWebhookConfiguration',
        namespaced: false,
      },
      webhook as never,
    );
    await cluster.client.create(SECRETS, {
      metadata: { name: 'r', namespace: 'switchyard', labels: { owner: 'helm', name: 'r', status: 'failed', version: '1' } },
      data: {
        release: Buffer.from(gzipSync(JSON.stringify({ chart: { metadata: { name: 'switchyard-manager' } } })).toString('base64')).toString(
          'base64',
        ),
      },
    });
    const checks = (await doctor()).slice(0, 2);
    expect(checks).toMatchObject([
      { check: 'release r', result: 'wrong' },
      { check: 'manager', result: 'wrong', found: expect.stringContaining('switchyard/test-switchyard-manager') },
    ]);
  });
});
