import path from 'node:path';

export const HOST = '127.0.0.1';

/** Data that lives as long as a test or a quick start need not survive a power failure. */
export const etcdFlags = (dataDir: string, clientPort: number, peerPort: number): string[] => [
  `--data-dir=${dataDir}`,
  `--listen-client-urls=http://${HOST}:${clientPort}`,
  `--advertise-client-urls=http://${HOST}:${clientPort}`,
  `--listen-peer-urls=http://${HOST}:${peerPort}`,
  `--initial-advertise-peer-urls=http://${HOST}:${peerPort}`,
  `--initial-cluster=default=http://${HOST}:${peerPort}`,
  '--unsafe-no-fsync',
  '--log-level=warn',
];

export type ApiServerSettings = {
  /** With the files that `writeSecrets` writes. */
  readonly directory: string;
  readonly etcdUrl: string;
  readonly etcdPrefix: string;
  readonly port: number;
  /** Whether a controller creates the ServiceAccount that admission wants in every namespace. */
  readonly hasServiceAccounts: boolean;
};

export const apiServerFlags = ({ directory, etcdUrl, etcdPrefix, port, hasServiceAccounts }: ApiServerSettings): string[] => [
  `--etcd-servers=${etcdUrl}`,
  `--etcd-prefix=${etcdPrefix}`,
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
  // Names of nodes resolve to nothing here; logs are had from their addresses.
  '--kubelet-preferred-address-types=InternalIP',
  ...(hasServiceAccounts ? [] : ['--disable-admission-plugins=ServiceAccount']),
  '--allow-privileged=true',
];

/** What a ServiceAccount and its tokens are made of, and what gives roles such as `view` the rules of those that they aggregate. */
const ACCESS_CONTROLLERS = [
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'root-ca-certificate-publisher-controller',
  'clusterrole-aggregation-controller',
];

export type ControllerManagerSettings = {
  readonly directory: string;
  readonly kubeconfigFile: string;
  /** By upstream's names, beside those of ServiceAccounts and roles. */
  readonly controllers: readonly string[];
};

export const controllerManagerFlags = ({ directory, kubeconfigFile, controllers }: ControllerManagerSettings): string[] => [
  `--kubeconfig=${kubeconfigFile}`,
  `--controllers=${[...ACCESS_CONTROLLERS, ...controllers].join(',')}`,
  `--service-account-private-key-file=${path.join(directory, 'service-account.key')}`,
  `--root-ca-file=${path.join(directory, 'server.crt')}`,
  // The only one of its cluster: no election, and no port that another one beside it would want.
  '--leader-elect=false',
  '--secure-port=0',
];
