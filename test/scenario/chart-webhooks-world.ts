/** An embedded cluster with the webhook configurations of the manager's chart, and the webhook itself; only its address is the test's. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DEFAULT_JOB_RULES } from '../../manager/api/job-rules.ts';
import type { PassedWrite } from '../../manager/audit/write-audit.ts';
import { selfSignedCertificate } from '../../manager/cli/local/webhook-certificate.ts';
import { createWebhookServer, type ListeningWebhook, type WebhookServer } from '../../manager/webhook/server.ts';
import type { WorkKind } from '../../manager/work-kind/work-kind.ts';
import type { Resource } from '../../shared/api/resources.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { certificateFromFiles } from '../../shared/runtime/serving-certificate.ts';
import { startCluster, type EmbeddedCluster } from '../support/embedded-cluster.ts';
import { ofKind, renderChart } from '../support/helm.ts';

/** As the chart names it. */
export const MANAGER = { name: 'system:serviceaccount:switchyard:test-switchyard-manager', groups: ['system:masters'] };

export type ChartWebhooks = {
  readonly cluster: EmbeddedCluster;
  readonly hooks: WebhookServer;
  readonly server: ListeningWebhook;
  /** Ends the cluster, not the server. */
  readonly close: () => Promise<void>;
};

export async function createChartWebhooks(options: {
  readonly kind: WorkKind;
  readonly values: readonly string[];
  readonly onPassed?: (write: PassedWrite) => void;
}): Promise<ChartWebhooks> {
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-webhooks-'));
  const { certPem, keyPem } = await selfSignedCertificate(Date.now());
  const [certFile, keyFile] = [path.join(directory, 'tls.crt'), path.join(directory, 'tls.key')];
  writeFileSync(certFile, certPem);
  writeFileSync(keyFile, keyPem);
  const hooks = createWebhookServer({
    kind: options.kind,
    certificate: certificateFromFiles({ of: 'webhook', certFile, keyFile, clock: systemClock, log: silentLogger }),
    identities: { managers: [MANAGER.name], localWorkers: [] },
    onSharedIdentity: () => undefined,
    onPassed: options.onPassed ?? (() => undefined),
    rules: { ...DEFAULT_JOB_RULES, kueueQueueLabel: true },
    clock: systemClock,
    log: silentLogger,
  });
  const server = await hooks.listen('127.0.0.1:0');
  const cluster = await startCluster(systemClock, []);
  await install(cluster, options.values, server.url, certPem);
  return {
    cluster,
    hooks,
    server,
    close: async () => {
      await cluster.plane.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function install({ client }: EmbeddedCluster, values: readonly string[], url: string, certPem: string): Promise<void> {
  const rendered = renderChart('manager', ...values);
  for (const object of ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'].flatMap((kind) => ofKind(rendered, kind))) {
    // Of the policies the one that warns: the others have tests of their own, and these here are about what the webhooks refuse.
    if (!object.metadata.name.endsWith('-override')) continue;
    const plural = object.kind === 'ValidatingAdmissionPolicy' ? 'validatingadmissionpolicies' : 'validatingadmissionpolicybindings';
    await client.create(admissionResource(object.kind, plural), object as never);
  }
  for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']) {
    const [configuration] = ofKind(rendered, kind) as unknown as {
      metadata: { name: string };
      webhooks: { clientConfig: { service: { path: string } } }[];
    }[];
    const webhooks = configuration?.webhooks.map((hook) => ({
      ...hook,
      clientConfig: { url: `${url}${hook.clientConfig.service.path}`, caBundle: Buffer.from(certPem).toString('base64') },
    }));
    await client.create(admissionResource(kind, `${kind.toLowerCase()}s`), {
      metadata: { name: configuration?.metadata.name ?? '' },
      webhooks,
    } as never);
  }
}

const admissionResource = (kind: string, plural: string): Resource => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural,
  kind,
  namespaced: false,
});
