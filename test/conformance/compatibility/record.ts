/**
 * Records what Kubernetes versions serve: `KUBEBUILDER_ASSETS=DIR node test/conformance/compatibility/record.ts 1.35 1.36`. A
 * kube-apiserver plays the versions before its own (`--emulated-version`), so that one set of binaries records several. What is written is
 * what docs/compatibility.md is held to.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createHttpTransport } from '../../../shared/kube/http-transport.ts';
import { createKubeClient } from '../../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../../shared/kube/kubeconfig.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import { startRealControlPlane } from '../../support/real-control-plane.ts';
import { GATES, type RecordedVersion } from './recorded-versions.ts';

const ENABLED = /^kubernetes_feature_enabled\{name="(\w+)",stage="(\w*)"\} ([01])$/gm;

async function record(version: string): Promise<RecordedVersion> {
  const plane = await startRealControlPlane({ apiServerFlags: [`--emulated-version=kube=${version}`] });
  const transport = createHttpTransport(accessFromKubeconfig({ kind: 'file', path: plane.kubeconfigFile }, systemClock), silentLogger);
  try {
    const client = createKubeClient(transport, { userAgent: 'record', clock: systemClock });
    const read = async (at: string): Promise<string> => client.raw({ method: 'GET', path: at });
    const { gitVersion } = JSON.parse(await read('/version')) as { gitVersion: string };
    const { groups } = JSON.parse(await read('/apis')) as { groups: { versions: { groupVersion: string }[] }[] };
    const groupVersions = groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => groupVersion));
    const resources: string[] = [];
    for (const groupVersion of groupVersions) {
      const list = JSON.parse(await read(`/apis/${groupVersion}`)) as { resources: { name: string }[] };
      resources.push(...list.resources.map(({ name }) => `${groupVersion}/${name}`));
    }
    const stages = [...(await read('/metrics')).matchAll(ENABLED)];
    const gates = Object.fromEntries(
      GATES.flatMap((gate) => {
        const [, , stage = '', enabled = ''] = stages.find(([, name]) => name === gate) ?? [];
        return enabled === '' ? [] : [[gate, { stage: stage || 'GA', enabled: enabled === '1' }]];
      }),
    );
    return { version, recordedWith: gitVersion, resources: resources.toSorted(), gates };
  } finally {
    await transport.close();
    await plane.stop();
  }
}

for (const version of process.argv.slice(2))
  writeFileSync(path.join(import.meta.dirname, `v${version}.json`), `${JSON.stringify(await record(version), null, 2)}\n`);
