import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { createHttpTransport } from '../../../shared/kube/http-transport.ts';
import { createKubeClient } from '../../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../../shared/kube/kubeconfig.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import { ChildProgram } from '../../support/child-program.ts';
import { parseSamples } from '../prometheus-text.ts';

const CONTROL_PLANE = path.resolve(import.meta.dirname, '../../../shared/controlplane/main.ts');
const READING_VERBS = new Set(['', 'GET', 'LIST', 'WATCH', 'OTHER']);

/** An embedded control plane in a process of its own, with its objects on disk, so that they can be changed there while it is stopped. */
export interface DurablePlane extends AsyncDisposable {
  readonly name: string;
  readonly kubeconfigFile: string;
  readonly dataDirectory: string;
  readonly client: KubeClient;
  /** How often it was called, by verb and resource: `PATCH jobs/status`. */
  calls(): Promise<ReadonlyMap<string, number>>;
  stop(): Promise<void>;
  /** After `stop`: where it was, under the address that it had. */
  startAgain(): Promise<void>;
}

export async function startDurablePlane(name: string, directory: string): Promise<DurablePlane> {
  const kubeconfigFile = path.join(directory, 'kubeconfig');
  const dataDirectory = path.join(directory, 'data');
  const start = async (port: string): Promise<ChildProgram> => {
    rmSync(kubeconfigFile, { force: true });
    const flags = ['--kubeconfig-out', kubeconfigFile, '--data-dir', dataDirectory, '--port', port];
    const starting = new ChildProgram(`the control plane of ${name}`, [process.execPath, CONTROL_PLANE, ...flags]);
    await starting.find((line) => (line.includes('"control plane is serving"') && existsSync(kubeconfigFile) ? true : undefined));
    return starting;
  };
  let program = await start('0');
  const port = /server: \S+:(\d+)/.exec(readFileSync(kubeconfigFile, 'utf8'))?.[1] ?? '';
  const transport = createHttpTransport(accessFromKubeconfig({ kind: 'file', path: kubeconfigFile }, systemClock), silentLogger);
  const client = createKubeClient(transport, { userAgent: 'bench', clock: systemClock });
  const stop = (): Promise<void> => program.stop();
  return {
    name,
    kubeconfigFile,
    dataDirectory,
    client,
    async calls() {
      const { body } = await transport.send({ method: 'GET', path: '/metrics', headers: {} });
      const calls = new Map<string, number>();
      for (const { name: metric, labels, value } of parseSamples(body)) {
        if (metric !== 'apiserver_request_total') continue;
        const { verb = '', resource = '', subresource = '' } = labels;
        const what = `${verb} ${resource}${subresource === '' ? '' : `/${subresource}`}`;
        calls.set(what, (calls.get(what) ?? 0) + value);
      }
      return calls;
    },
    stop,
    startAgain: async () => void (program = await start(port)),
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await stop();
    },
  };
}

export const isWrite = (call: string): boolean => !READING_VERBS.has(call.split(' ')[0] ?? '');
