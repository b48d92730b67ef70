/**
 * Goal: what is installed stays as it is for those who apply charts without Helm's releases: `kubectl diff` and both ways of
 * `kubectl apply` find nothing to change in what was just installed, by Helm or by themselves. `helm diff` compares what `helm template`
 * renders, as is done here.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { CHARTS, type Chart } from '../support/helm.ts';
import { createKubectl, findKubectls } from '../support/kubectl.ts';
import { type ServerUnderTest, startServerUnderTest } from '../support/server-under-test.ts';
import { isSlow } from '../support/slow.ts';

const LIMIT_MS = 300_000;
const NAMESPACE = 'switchyard';
/** Half a minute of processor time: npm test applies each chart twice without kubectl (`test/scenario/charts.test.ts`). */
const kubectls = isSlow ? findKubectls(process.env).slice(-1) : [];
const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-applied-'));
/**
 * `kubectl apply` sends a map whose patchStrategy is `replace` each time, such as the selector of a PodDisruptionBudget, and says
 * `configured` of any patch that is not empty. No manifest avoids that, and nothing is written.
 */
const UNCHANGED = / unchanged$|^poddisruptionbudget\.policy\/\S+ configured$/;
let server: ServerUnderTest;

beforeAll(async () => {
  if (kubectls.length > 0) server = await startServerUnderTest();
}, LIMIT_MS);
afterAll(async () => {
  await server?.close();
  rmSync(directory, { recursive: true, force: true });
});

test.runIf(kubectls.length === 0)('kubectl', ({ skip }) =>
  skip('run npm run test:operations, with a kubectl on the PATH or named by $KUBECTL_BINARIES'),
);

describe.each(kubectls)('kubectl $version', { timeout: LIMIT_MS }, (binary) => {
  const kubeconfig = path.join(directory, 'kubeconfig');
  const kubectl = createKubectl(binary, kubeconfig, '', path.join(directory, 'cache'));
  const helm = async (...args: readonly string[]): Promise<string> => {
    const home = { HELM_CACHE_HOME: directory, HELM_CONFIG_HOME: directory, HELM_DATA_HOME: directory };
    const env = { ...process.env, ...home, KUBECONFIG: kubeconfig };
    return (await promisify(execFile)('helm', [...args, '--namespace', NAMESPACE], { env, maxBuffer: 64 * 1024 * 1024 })).stdout;
  };
  const releaseOf = (chart: Chart): string => `switchyard-${chart}`;
  /** As `helm diff` renders it: against the cluster, so that `lookup` finds what is there. */
  const render = (chart: Chart): Promise<string> =>
    helm('template', releaseOf(chart), CHARTS[chart], '--is-upgrade', '--no-hooks', '--validate');
  /** What `kubectl diff` says would change. */
  const differences = async (stdin: string, flags = ''): Promise<string> => {
    const { code, stdout, stderr } = await kubectl.attempt(`diff ${flags} -f -`, { stdin });
    return code === 0 ? stdout : `${code}\n${stdout}\n${stderr}`;
  };

  beforeAll(async () => {
    writeFileSync(kubeconfig, server.kubeconfig, { mode: 0o600 });
    await kubectl(`create namespace ${NAMESPACE}`);
  });

  describe.each<Chart>(['manager', 'worker'])('the chart of the %s', (chart) => {
    test('applied twice changes nothing the second time, on the client side and on the server side', async () => {
      const stdin = await render(chart);
      expect(await kubectl('apply -f -', { stdin })).toMatch(/ created\n/);
      const budgets = (): Promise<string> =>
        kubectl(`get poddisruptionbudgets --namespace ${NAMESPACE} -o jsonpath={.items[*].metadata.resourceVersion}`);
      const written = await budgets();
      expect(written).toMatch(/^\d+$/);
      const again = await kubectl('apply -f -', { stdin });
      expect(again.split('\n').filter((line) => line !== '' && !UNCHANGED.test(line))).toEqual([]);
      expect(await budgets()).toBe(written);
      expect(await differences(stdin)).toBe('');
      const versions = async (): Promise<string> =>
        kubectl('get -f - -o \'jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.resourceVersion}{"\\n"}{end}\'', { stdin });
      await kubectl('apply --server-side --force-conflicts -f -', { stdin });
      // Controllers of the cluster may still write what they observe of the definitions.
      await vi.waitFor(
        async () => {
          const before = await versions();
          await kubectl('apply --server-side --force-conflicts -f -', { stdin });
          expect(await versions()).toBe(before);
        },
        { timeout: 60_000, interval: 500 },
      );
      expect(await differences(stdin, '--server-side --force-conflicts')).toBe('');
      // What is in a namespace of the chart goes with that.
      await kubectl('delete --wait --ignore-not-found -f -', { stdin });
    });

    test('installed by Helm differs in nothing from what is rendered', async () => {
      await helm('install', releaseOf(chart), CHARTS[chart], '--wait=false');
      const stdin = await render(chart);
      expect(await differences(stdin, '--server-side --force-conflicts --field-manager=helm')).toBe('');
      await helm('uninstall', releaseOf(chart));
    });
  });
});
