/**
 * The way of a real API server to the webhooks of Services, where no kube-proxy is: an HTTP CONNECT proxy that knows what is behind a
 * Service's address.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { writeFileSync } from 'node:fs';
import type { ClusterNetwork } from '../../shared/controlplane/admission/webhook/webhooks.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { connectionsOf } from '../../shared/runtime/server-connections.ts';
import { SERVICES } from './test-kubelet.ts';

export interface ServiceProxy extends AsyncDisposable {
  /** Of the API server: it dials into the cluster through the proxy. */
  readonly apiServerFlag: string;
  /** Of an administrator; until it is there nothing is found. */
  attach(client: KubeClient): void;
}

/** `directory` must have a short name: that of a socket has at most 107 bytes. */
export async function startServiceProxy(directory: string, network: ClusterNetwork): Promise<ServiceProxy> {
  const socket = path.join(directory, 'proxy.sock');
  let client: KubeClient | undefined;
  const targetOf = async (host: string, port: number): Promise<string> => {
    const { items = [] } = (await client?.list(SERVICES)) ?? {};
    const service = items.find(({ spec }) => (spec as { clusterIP?: string }).clusterIP === host);
    if (service === undefined) return `${host}:${port}`;
    const target = network({ namespace: service.metadata.namespace ?? '', name: service.metadata.name, port });
    if (target === undefined) throw new Error(`nothing runs behind service ${service.metadata.name}:${port}`);
    return target;
  };
  const server = createServer();
  const connections = connectionsOf(server);
  const pass = async ({ url = '' }: IncomingMessage, downstream: Socket): Promise<void> => {
    const [host = '', port = ''] = url.split(':');
    const [targetHost = '', targetPort = ''] = (await targetOf(host, Number(port))).split(':');
    const upstream = connect(Number(targetPort), targetHost, () => {
      downstream.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(downstream).pipe(upstream);
    });
    upstream.on('error', () => downstream.destroy());
    downstream.on('error', () => upstream.destroy());
    downstream.on('close', () => upstream.destroy());
  };
  server.on('connect', (request: IncomingMessage, downstream: Socket) => {
    pass(request, downstream).catch(() => downstream.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const connection = { proxyProtocol: 'HTTPConnect', transport: { uds: { udsName: socket } } };
  const selection = {
    apiVersion: 'apiserver.k8s.io/v1beta1',
    kind: 'EgressSelectorConfiguration',
    egressSelections: [{ name: 'cluster', connection }],
  };
  const file = path.join(directory, 'egress.json');
  writeFileSync(file, JSON.stringify(selection));
  return {
    apiServerFlag: `--egress-selector-config-file=${file}`,
    attach: (attached) => void (client = attached),
    [Symbol.asyncDispose]: () => connections.close(),
  };
}
