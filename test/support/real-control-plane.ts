/**
 * etcd and kube-apiserver in processes of their own, from the directory that KUBEBUILDER_ASSETS names (`setup-envtest use
 * -p path` prints one). No controller runs beside them: Jobs without `managedBy` are nobody's, and nothing collects garbage.
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Agent, request } from 'undici';
import { kubeconfigFor, newToken } from '../../shared/controlplane/server/kubeconfig-file.ts';
import { createServingCertificate } from '../../shared/controlplane/server/serving-certificate.ts';
import { ChildProgram } from './child-program.ts';

export type RealControlPlane = {
  /** Of a cluster administrator. */
  readonly kubeconfigFile: string;
  stop(): Promise<void>;
};

const HOST = '127.0.0.1';
const READY_WITHIN_MS = 60_000;
const PROBE_EVERY_MS = 100;

/** The directory with the binaries; undefined when none is named. */
export const realControlPlaneAssets = (): string | undefined => process.env['KUBEBUILDER_ASSETS'] || undefined;

/** Starts both programs and waits until the API server is ready. Throws when KUBEBUILDER_ASSETS is not set, or one of them ends. */
export async function startRealControlPlane(assets: string = realControlPlaneAssets() ?? ''): Promise<RealControlPlane> {
  if (assets === '') throw new Error('KUBEBUILDER_ASSETS names no directory with etcd and kube-apiserver');
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-apiserver-'));
  const [etcdClientPort, etcdPeerPort, apiPort] = [await freePort(), await freePort(), await freePort()];
  const token = newToken();
  const { certPem } = await writeSecrets(directory, token);
  const programs: ChildProgram[] = [];
  const stop = async (): Promise<void> => {
    // The API server first: without its storage it would take its time to end.
    for (const program of programs.toReversed()) await program.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const etcd = new ChildProgram('etcd', [path.join(assets, 'etcd'), ...etcdFlags(directory, etcdClientPort, etcdPeerPort)]);
    programs.push(etcd);
    await ready(`http://${HOST}:${etcdClientPort}/health`, etcd);
    const apiServer = new ChildProgram('kube-apiserver', [
      path.join(assets, 'kube-apiserver'),
      ...apiServerFlags(directory, etcdClientPort, apiPort),
    ]);
    programs.push(apiServer);
    const url = `https://${HOST}:${apiPort}`;
    const kubeconfigFile = path.join(directory, 'kubeconfig');
    writeFileSync(kubeconfigFile, kubeconfigFor({ url, caPem: certPem }, token, 'real'), { mode: 0o600 });
    await ready(`${url}/readyz`, apiServer, certPem);
    return { kubeconfigFile, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Data that lives as long as a test need not survive a power failure. */
export const etcdFlags = (directory: string, clientPort: number, peerPort: number): string[] => [
  `--data-dir=${path.join(directory, 'etcd')}`,
  `--listen-client-urls=http://${HOST}:${clientPort}`,
  `--advertise-client-urls=http://${HOST}:${clientPort}`,
  `--listen-peer-urls=http://${HOST}:${peerPort}`,
  `--initial-advertise-peer-urls=http://${HOST}:${peerPort}`,
  `--initial-cluster=default=http://${HOST}:${peerPort}`,
  '--unsafe-no-fsync',
  '--log-level=warn',
];

export const apiServerFlags = (directory: string, etcdPort: number, port: number): string[] => [
  `--etcd-servers=http://${HOST}:${etcdPort}`,
  `--bind-address=${HOST}`,
  // Without it the server looks for a default route, and a machine without one cannot start it.
  `--advertise-address=${HOST}`,
  `--secure-port=${port}`,
  `--cert-dir=${directory}`,
  `--tls-cert-file=${path.join(directory, 'server.crt')}`,
  `--tls-private-key-file=${path.join(directory, 'server.key')}`,
  `--token-auth-file=${path.join(directory, 'tokens.csv')}`,
  '--authorization-mode=RBAC',
  '--service-account-issuer=https://kubernetes.default.svc',
  `--service-account-key-file=${path.join(directory, 'service-account.key')}`,
  `--service-account-signing-key-file=${path.join(directory, 'service-account.key')}`,
  '--service-cluster-ip-range=10.0.0.0/24',
  // Nobody creates the ServiceAccount that this plugin would want in every namespace.
  '--disable-admission-plugins=ServiceAccount',
  '--allow-privileged=true',
];

async function writeSecrets(directory: string, token: string): Promise<{ readonly certPem: string }> {
  const { certPem, keyPem } = await createServingCertificate(HOST);
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  const secret = { mode: 0o600 };
  writeFileSync(path.join(directory, 'server.crt'), certPem);
  writeFileSync(path.join(directory, 'server.key'), keyPem, secret);
  writeFileSync(path.join(directory, 'service-account.key'), privateKey, secret);
  writeFileSync(path.join(directory, 'tokens.csv'), `${token},admin,admin,"system:masters"\n`, secret);
  return { certPem };
}

async function ready(url: string, program: ChildProgram, ca?: string): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (!(await Promise.race([answersOk(url, ca), program.failsWhenEnded()]))) {
    if (performance.now() > deadline) throw new Error(`${url} was not ready within ${READY_WITHIN_MS / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
  }
}

/** /readyz and /health are open to everyone, so no credentials are sent. */
async function answersOk(url: string, ca: string | undefined): Promise<boolean> {
  const dispatcher = new Agent({ connect: ca === undefined ? {} : { ca } });
  try {
    const { statusCode, body } = await request(url, { dispatcher });
    await body.dump();
    return statusCode === 200;
  } catch (error) {
    if (error instanceof Error && 'code' in error && NOT_YET.has(String(error.code))) return false;
    throw error;
  } finally {
    await dispatcher.close();
  }
}

/** How a server that does not listen yet, or is just about to, is seen. */
const NOT_YET = new Set(['ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET', 'UND_ERR_CONNECT_TIMEOUT', 'EPIPE']);

/** A port that was free a moment ago. */
function freePort(): Promise<number> {
  const found = Promise.withResolvers<number>();
  const server = createServer();
  server.once('error', found.reject);
  server.listen(0, HOST, () => {
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    server.close(() => found.resolve(port));
  });
  return found.promise;
}
