import { Registry } from 'prom-client';
import { createClientFactory } from '../../manager/process/client-factory.ts';
import { kubeconfigFor } from '../../shared/controlplane/server/kubeconfig-file.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { onLine } from './line.ts';
import {
  ACCOUNT,
  RELEASE_NAMESPACE,
  startWorkerUnderRbac,
  type WorkerUnderRbac,
  type WorkerUnderRbacOptions,
} from './worker-under-rbac.ts';

/** A worker cluster as it is in earnest: in real time, reached over HTTPS with a token of the manager's account. */
export async function startHttpsWorker(options: WorkerUnderRbacOptions): Promise<WorkerUnderRbac> {
  const worker = await startWorkerUnderRbac({ ...options, clock: systemClock });
  const { url, kubeconfig: administrators } = await worker.plane.listen();
  const clientOver = createClientFactory({ registry: new Registry(), clock: systemClock });
  return {
    ...worker,
    kubeconfig: kubeconfigFor({ url, caPem: authorityOf(administrators) }, await tokenOf(worker.client)),
    connect: (access) => clientOver(onLine(createHttpTransport(access, silentLogger), worker.line, 'worker'), access, { qps: 0, burst: 1 }),
  };
}

async function tokenOf(client: KubeClient): Promise<string> {
  const answer = await client.raw({
    method: 'POST',
    path: `/api/v1/namespaces/${RELEASE_NAMESPACE}/serviceaccounts/${ACCOUNT}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    contentType: 'application/json',
  });
  return (JSON.parse(answer) as { status: { token: string } }).status.token;
}

function authorityOf(kubeconfig: string): string {
  const data = /certificate-authority-data: (\S+)/.exec(kubeconfig)?.[1];
  if (data === undefined) throw new Error('the kubeconfig names no certificate authority');
  return Buffer.from(data, 'base64').toString('utf8');
}
