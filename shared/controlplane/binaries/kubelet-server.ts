import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { PODS } from '../../api/resources.ts';
import type { ReadClient } from '../../kube/client.ts';
import { type ServerConnections, connectionsOf } from '../../runtime/server-connections.ts';
import { StatusError } from '../apimachinery/status-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { Query } from '../request/request.ts';
import { createServingCertificate } from '../server/serving-certificate.ts';
import type { PodLogs } from '../subresources/pod-log.ts';
import { readPodLogOptions } from '../subresources/pod-log-options.ts';
import { HOST } from './program-flags.ts';

export type KubeletServer = ServerConnections & { readonly port: number };

/**
 * Where a real API server gets logs from: what a kubelet serves of them. It trusts whoever reaches it on this machine, as the API server
 * has no certificate for it.
 */
export async function startKubeletServer(client: ReadClient, logs: PodLogs): Promise<KubeletServer> {
  const { certPem, keyPem } = await createServingCertificate(HOST);
  const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    serveLog(client, logs, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(error instanceof StatusError ? error.code : 500).end(error instanceof Error ? error.message : String(error));
    });
  });
  const connections = connectionsOf(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, HOST, resolve);
  });
  // Listening on a port, address() is never null and never a path.
  return { port: (server.address() as AddressInfo).port, close: () => connections.close() };
}

const LOG_PATH = /^\/containerLogs\/([^/]+)\/([^/]+)\/([^/]+)$/;

/** The API server has judged the options and the container before it asks. */
async function serveLog(client: ReadClient, logs: PodLogs, { url = '/' }: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path = '', query = ''] = url.split('?');
  const [, namespace, name, container] = LOG_PATH.exec(path) ?? [];
  if (namespace === undefined || name === undefined || container === undefined) {
    response.writeHead(404).end();
    return;
  }
  const pod = (await client.get(PODS, { namespace, name })) as unknown as AnyObject;
  const options = { ...readPodLogOptions(new Query(query), name), container };
  const sink = { write: (text: string) => void response.write(text), end: () => void response.end() };
  // Followers wait for the first line: they want to know at once that there is a log.
  const stop = logs.open(pod, options, { write: sink.write, end: sink.end });
  response.flushHeaders();
  if (stop === undefined) response.end();
  else response.once('close', stop);
}
