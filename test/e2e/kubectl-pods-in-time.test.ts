/**
 * What kubectl shows of things that happen in time: logs by their times, events of pods, CronJobs. With the newest kubectl of this
 * machine, against an embedded control plane whose node agent runs the containers and beside which our worker runs the Jobs.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../shared/runtime/clock.ts';
import { type RunningWorker, startWorker } from '../support/embedded-cluster.ts';
import { createKubectl, findKubectls, type Kubectl } from '../support/kubectl.ts';
import { type ServerUnderTest, startServerUnderTest } from '../support/server-under-test.ts';

const TEST_LIMIT_MS = 300_000;
/** How long something is waited for that comes by itself. */
const PATIENCE = { timeout: 120_000, interval: 200 };
const kubectls = findKubectls(process.env).slice(-1);
const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-kubectl-'));
const kubeconfig = path.join(directory, 'kubeconfig');
let cluster: ServerUnderTest;
let worker: RunningWorker;

beforeAll(async () => {
  if (kubectls.length === 0) return;
  cluster = await startServerUnderTest({ controllers: ['garbage-collector', 'namespace', 'pod-gc', 'cron-job', 'node-agent'] });
  worker = startWorker(cluster, systemClock);
  writeFileSync(kubeconfig, cluster.kubeconfig);
}, TEST_LIMIT_MS);

afterAll(async () => {
  await worker?.stop();
  await cluster?.close();
  rmSync(directory, { recursive: true, force: true });
});

test.runIf(kubectls.length === 0)('kubectl', ({ skip }) => skip('no kubectl on the PATH, and $KUBECTL_BINARIES names none'));

describe.each(kubectls)('kubectl $version', { timeout: TEST_LIMIT_MS }, (binary) => {
  const kubectl: Kubectl = createKubectl(binary, kubeconfig, 'default', path.join(directory, 'cache'));
  const run = (name: string, script: string, policy = 'Never'): Promise<string> =>
    kubectl(`run ${name} --image=busybox --restart=${policy} --command -- sh -c '${script}'`);
  const eventually = (command: string, output: RegExp): Promise<void> =>
    vi.waitFor(async () => expect((await kubectl.attempt(command)).stdout, command).toMatch(output), PATIENCE);

  test('shows logs by the times of their lines', async () => {
    await run('talk', 'echo one; sleep 2; echo two >&2');
    await kubectl('wait --for=jsonpath={.status.phase}=Succeeded pod/talk --timeout=120s');
    const stamped = await kubectl('logs talk --timestamps');
    expect(stamped).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z one\n\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z two\n$/);
    const second = stamped.split('\n')[1]?.slice(0, 19);
    expect(await kubectl(`logs talk --since-time=${second}Z`)).toBe('two\n');
    expect(await kubectl('logs talk --since=1h')).toBe('one\ntwo\n');
    expect(await kubectl('logs talk --tail=1')).toBe('two\n');
    expect(await kubectl('logs talk --limit-bytes=5')).toBe('one\nt');
  });

  test('follows a log until the container ends, and shows that of the run before', async () => {
    await run('again', 'if [ -e once ]; then echo second; sleep 600; else touch once; echo first; exit 1; fi', 'OnFailure');
    await eventually('logs again', /^second\n$/);
    expect(await kubectl('logs again --previous')).toBe('first\n');
    // However late the following begins, it ends with the container and has all of its log.
    await run('slow', 'echo begun; sleep 2; echo done');
    await eventually('logs slow', /^begun\n/);
    expect(await kubectl('logs -f slow')).toBe('begun\ndone\n');
    await kubectl('delete pod again slow --now');
  });

  test('describes what happens to a pod', async () => {
    await run('seen', 'sleep 600');
    const image = 'Container image "busybox" already present on machine and can be accessed by the pod';
    for (const line of [
      /Normal +Scheduled .* default-scheduler +Successfully assigned default\/seen to node-1\n/,
      new RegExp(`Normal +Pulled .* kubelet +(spec.containers{seen}: )?${image}\n`),
      /Normal +Created .* kubelet +(spec.containers{seen}: )?Container created\n/,
      /Normal +Started .* kubelet +(spec.containers{seen}: )?Container started\n/,
    ]) {
      await eventually('describe pod seen', line);
    }
    await kubectl('delete pod seen --now');
    await eventually('get events --field-selector=involvedObject.name=seen', /Normal +Killing +pod\/seen +Stopping container seen\n/);
    const container = { name: 'main', image: 'busybox', command: ['true'], resources: { requests: { cpu: '1000' } } };
    const big = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'big' }, spec: { containers: [container] } };
    await kubectl('create -f -', { stdin: stringify(big) });
    await eventually(
      'describe pod big',
      /Warning +FailedScheduling .* default-scheduler +0\/1 nodes are available: 1 Insufficient cpu\.\n/,
    );
    await kubectl('delete pod big --now');
  });

  test('makes a CronJob that starts Jobs, and hears why another cannot be made', async () => {
    await kubectl(`create cronjob tick --image=busybox '--schedule=@every 1s' -- echo tick`);
    await eventually('get jobs', /tick-\d+ +Complete/);
    await eventually('describe cronjob tick', /Normal +SuccessfulCreate .* cronjob-controller +Created job tick-\d+\n/);
    await eventually('get cronjob tick', /tick +@every 1s +<none> +False +\d+ +\d+m?s /);
    await eventually('get cronjob tick -o jsonpath={.status}', /"lastSuccessfulTime"/);
    await kubectl('delete cronjob tick');
    await eventually('get jobs', /^$/);
    expect(await kubectl.refused(`create cronjob bad --image=busybox '--schedule=61 * * * *'`)).toContain(
      'spec.schedule: Invalid value: "61 * * * *": end of range (61) above maximum (59): 61',
    );
  });
});
