import { createControlPlane, type ControlPlane, type ControlPlaneOptions } from '../../../../shared/controlplane/control-plane.ts';
import type { AnyObject } from '../../../../shared/controlplane/apimachinery/object.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../../shared/runtime/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

export type Reply = { readonly status: number; readonly body: AnyObject; readonly text: string; readonly warning: unknown };

/** A control plane on a fake clock, spoken to without sockets. */
export type Bench = {
  readonly plane: ControlPlane;
  readonly clock: FakeClock;
  call(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** Opens a watch; `events` grows as they come, `ended` turns true with the stream. */
  watch(path: string): Promise<Watched>;
};
export type Watched = { readonly status: number; readonly events: WatchedEvent[]; ended: boolean; stop(): void };
export type WatchedEvent = { readonly type: string; readonly object: AnyObject };

export async function aControlPlane(options: Partial<ControlPlaneOptions> = {}, seed = 1): Promise<Bench> {
  const clock = new FakeClock();
  const plane = await createControlPlane({ clock, random: seededRandom(seed), log: silentLogger, ...options });
  const transport = plane.transport();
  return {
    plane,
    clock,
    call: async (method, path, body, headers = {}) => {
      const answer = await transport.send({
        method,
        path,
        headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const isJson = answer.body.startsWith('{');
      return {
        status: answer.status,
        body: (isJson ? JSON.parse(answer.body) : {}) as AnyObject,
        text: answer.body,
        warning: answer.headers['warning'],
      };
    },
    watch: async (path) => {
      const stopping = new AbortController();
      const stream = await transport.stream({ method: 'GET', path, headers: { accept: 'application/json' }, signal: stopping.signal });
      const watched: Watched = { status: stream.status, events: [], ended: false, stop: () => stopping.abort(new Error('stopped')) };
      void collect(stream.chunks, watched, stopping.signal);
      await clock.settle();
      return watched;
    },
  };
}

async function collect(chunks: AsyncIterable<string>, watched: Watched, signal: AbortSignal): Promise<void> {
  let rest = '';
  try {
    for await (const chunk of chunks) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) watched.events.push(JSON.parse(line) as WatchedEvent);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  watched.ended = true;
}

export const configMap = (name: string, more: object = {}, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  ...more,
});

export const pod = (name: string, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
});

export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
export const PODS = '/api/v1/namespaces/default/pods';
export const JOBS = '/apis/batch/v1/namespaces/default/jobs';
export const MERGE = { 'content-type': 'application/merge-patch+json' };
