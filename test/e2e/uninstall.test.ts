/** The command of docs/uninstall.md, as it stands there, run by a shell with kubectl against an embedded control plane. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { JOBS, NAMESPACES } from '../../shared/api/resources.ts';
import { COPIES_FINALIZER, SUBMISSION_FINALIZER } from '../../shared/api/names.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster.ts';
import { findKubectls } from '../support/kubectl.ts';
import { shellBlocks } from '../support/shell-document.ts';

const DOCUMENT = path.join(import.meta.dirname, '..', '..', 'docs', 'uninstall.md');
const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-uninstall-'));
let cluster: EmbeddedCluster | undefined;
afterEach(async () => {
  await cluster?.plane.close();
  rmSync(directory, { recursive: true, force: true });
});

const [kubectl] = findKubectls(process.env);

describe.skipIf(kubectl === undefined)('the documented command', () => {
  test('takes our finalizer off every Job, and nobody else’s', { timeout: 120_000 }, async () => {
    cluster = await startCluster(systemClock);
    const { client, plane } = cluster;
    const file = path.join(directory, 'kubeconfig');
    writeFileSync(file, (await plane.listen()).kubeconfig);
    const finalizers: Readonly<Record<string, string[]>> = {
      ours: [COPIES_FINALIZER],
      both: ['example.com/own', COPIES_FINALIZER],
      submitted: [SUBMISSION_FINALIZER, COPIES_FINALIZER],
      theirs: ['example.com/own'],
      none: [],
    };
    for (const namespace of ['blue', 'green']) {
      await client.create(NAMESPACES, { metadata: { name: namespace } });
      for (const [name, list] of Object.entries(finalizers)) {
        const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } };
        await client.create(JOBS, { metadata: { name, namespace, finalizers: list }, spec: { suspend: true, template } });
      }
    }
    const [block] = shellBlocks(readFileSync(DOCUMENT, 'utf8')).filter(
      ({ heading }) => heading === 'When the manager is gone before its Jobs',
    );
    const command = block?.text ?? '';
    expect(command).toContain('kubectl get jobs');
    const environment = {
      ...process.env,
      KUBECONFIG: file,
      PATH: `${path.dirname(kubectl?.file ?? '')}${path.delimiter}${process.env['PATH']}`,
    };
    await promisify(execFile)('sh', ['-euc', command], { env: environment });
    const left = (await client.list(JOBS)).items.map(({ metadata }) => [metadata.namespace, metadata.name, metadata.finalizers ?? []]);
    expect(left).toEqual(
      ['blue', 'green'].flatMap((namespace) => [
        [namespace, 'both', ['example.com/own']],
        [namespace, 'none', []],
        [namespace, 'ours', []],
        [namespace, 'submitted', []],
        [namespace, 'theirs', ['example.com/own']],
      ]),
    );
  });
});
