import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { connect } from 'node:net';
import type { AskProbe, Probe } from './probes.ts';
import type { Container, DeepReadonly } from '../../../api/kubernetes.ts';

/** Asks over the network, as the kubelet does: a status from 200 to 399 is a success, and so is a connection. */
export const askProbe: AskProbe = async (probe, container, podIp, signal) => {
  const limit = AbortSignal.any([signal, AbortSignal.timeout((probe.timeoutSeconds ?? 1) * 1000)]);
  try {
    const status =
      probe.httpGet === undefined ? await connectionTo(probe, container, podIp, limit) : await statusOf(probe, container, podIp, limit);
    return status >= 200 && status < 400 ? undefined : `HTTP probe failed with statuscode: ${status}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

function statusOf({ httpGet }: Probe, container: DeepReadonly<Container>, podIp: string, signal: AbortSignal): Promise<number> {
  const { host = podIp, path = '/', scheme = 'HTTP', httpHeaders = [] } = httpGet ?? {};
  const headers = Object.fromEntries(httpHeaders.map(({ name, value }) => [name, value]));
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const port = portOf(httpGet?.port, container);
  // Kubelets do not look at certificates.
  const call =
    scheme === 'HTTPS'
      ? requestHttps({ host, port, path, headers, signal, rejectUnauthorized: false })
      : requestHttp({ host, port, path, headers, signal, agent: false });
  call.once('response', (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  });
  call.once('error', reject);
  call.end();
  return promise;
}

function connectionTo({ tcpSocket }: Probe, container: DeepReadonly<Container>, podIp: string, signal: AbortSignal): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const socket = connect({ host: tcpSocket?.host ?? podIp, port: portOf(tcpSocket?.port, container), signal });
  socket.once('connect', () => {
    socket.destroy();
    resolve(200);
  });
  socket.once('error', reject);
  return promise;
}

/** A number, or the name of a port of the container. */
function portOf(port: unknown, { ports = [] }: DeepReadonly<Container>): number {
  const named = ports.find(({ name }) => name !== undefined && name === port)?.containerPort;
  return named ?? Number(port);
}
