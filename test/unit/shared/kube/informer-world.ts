import { afterEach } from 'vitest';
import type { Pod } from '../../../../shared/api/kubernetes.ts';
import { PODS } from '../../../../shared/api/resources.ts';
import { createInformer, type Informer, type InformerOptions } from '../../../../shared/kube/informer.ts';
import { createKubeClient } from '../../../../shared/kube/kube-client.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../../shared/runtime/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { isQuestion, ScriptedApi } from './scripted-api.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** An informer and the API server it follows. */
export type World = {
  api: ScriptedApi;
  clock: FakeClock;
  informer: Informer<Pod>;
  seen: string[];
  start(): Promise<void>;
  stop(): Promise<void>;
};

export function aWorld(options: Partial<InformerOptions<Pod>> = {}): World {
  const api = new ScriptedApi();
  const clock = new FakeClock();
  const client = createKubeClient(api, { userAgent: 'test', clock });
  const informer = createInformer<Pod>({ client, resource: PODS, clock, random: seededRandom(1), log: silentLogger, ...options });
  const seen: string[] = [];
  const controller = new AbortController();
  let running: Promise<void> = Promise.resolve();
  informer.addHandler({
    added: (pod, initial) => seen.push(`added ${pod.metadata.name} ${pod.metadata.uid}${initial ? ' initially' : ''}`),
    updated: (next, previous) =>
      seen.push(`updated ${next.metadata.name} ${previous.metadata.resourceVersion}->${next.metadata.resourceVersion}`),
    deleted: (pod, unknown) => seen.push(`deleted ${pod.metadata.name} ${pod.metadata.uid}${unknown ? ' unseen' : ''}`),
  });
  const world: World = {
    api,
    clock,
    informer,
    seen,
    start: async () => {
      running = informer.run(controller.signal);
      await clock.settle();
    },
    stop: async () => {
      controller.abort(new Error('stop'));
      await clock.settle();
      await running;
    },
  };
  stops.push(world.stop);
  return world;
}

export const cached = (informer: Informer<Pod>): string[] =>
  informer
    .list()
    .map((pod) => pod.metadata.name)
    .sort();

export const watches = ({ api }: World): string[] => api.requests.filter((request) => request.startsWith('WATCH'));
export const lists = ({ api }: World): string[] => api.requests.filter((request) => request.startsWith('GET') && !isQuestion(request));
export const questions = ({ api }: World): string[] => api.requests.filter(isQuestion);
