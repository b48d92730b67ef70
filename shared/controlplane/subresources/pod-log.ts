import { type Answer, textAnswer } from '../request/answer.ts';
import type { StreamSink } from '../request/answer.ts';
import type { Call } from '../request/call.ts';
import type { Registry } from '../registry/registry.ts';
import { readInteger } from '../registry/request-options.ts';
import type { ServedResource } from '../resources/served-resources.ts';
import { badRequest } from '../apimachinery/status-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { Subresource } from '../endpoints/subresource.ts';

/** Query of `pods/x/log` (PodLogOptions). */
export type PodLogOptions = {
  readonly container: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines: number | undefined;
  readonly sinceSeconds: number | undefined;
  readonly limitBytes: number | undefined;
};

/** Where containers write their output: what a kubelet is to a real API server. */
export interface PodLogSource {
  /**
   * Writes the log of one container and ends the sink, at once or, with `follow`, when the container has ended. Returns
   * what stops it. Undefined when this source does not run the pod. Throws a StatusError for a log that cannot be had.
   */
  open(pod: AnyObject, options: PodLogOptions, sink: StreamSink): (() => void) | undefined;
}

/** The sources of this control plane; node agents add themselves. */
export interface PodLogs {
  /** Returns what takes the source away again. */
  add(source: PodLogSource): () => void;
  open(pod: AnyObject, options: PodLogOptions, sink: StreamSink): (() => void) | undefined;
}

export function createPodLogs(): PodLogs {
  const sources = new Set<PodLogSource>();
  return {
    add: (source) => {
      sources.add(source);
      return () => sources.delete(source);
    },
    open: (pod, options, sink) => {
      for (const source of sources) {
        const stop = source.open(pod, options, sink);
        if (stop !== undefined) return stop;
      }
      return undefined;
    },
  };
}

/** `GET pods/x/log`. */
export const podLogSubresource = (registry: Registry, logs: PodLogs, pods: ServedResource): Subresource => ({
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: 'log',
  methods: { GET: (call) => readLog(registry, logs, call, pods) },
});

function readLog(registry: Registry, logs: PodLogs, call: Call, pods: ServedResource): Answer {
  const { query, namespace, name } = call.info;
  const pod = registry.get(pods, namespace, name).object;
  const options: PodLogOptions = {
    container: containerOf(pod, query.get('container')),
    follow: query.flag('follow'),
    previous: query.flag('previous'),
    timestamps: query.flag('timestamps'),
    tailLines: readInteger(query, 'tailLines'),
    sinceSeconds: readInteger(query, 'sinceSeconds'),
    limitBytes: readInteger(query, 'limitBytes'),
  };
  const collected = collectingSink();
  const stop = logs.open(pod, options, collected);
  // A pod that no node runs has an empty log.
  if (stop === undefined) return textAnswer(200, '');
  return {
    kind: 'stream',
    status: 200,
    headers: { 'content-type': 'text/plain' },
    start: (sink) => {
      collected.passTo(sink);
      return stop;
    },
  };
}

type PodSpec = {
  readonly containers?: readonly { readonly name: string }[];
  readonly initContainers?: readonly { readonly name: string }[];
};

/** The container whose log is meant; a pod with several wants one to be named. */
function containerOf(pod: AnyObject, asked: string): string {
  const { containers = [], initContainers = [] } = (pod['spec'] ?? {}) as PodSpec;
  if (asked !== '') {
    if ([...containers, ...initContainers].some(({ name }) => name === asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${pod.metadata.name}`);
  }
  const [only, ...others] = containers;
  if (only !== undefined && others.length === 0 && initContainers.length === 0) return only.name;
  const chosen = pod.metadata.annotations?.['kubectl.kubernetes.io/default-container'];
  if (chosen !== undefined && containers.some(({ name }) => name === chosen)) return chosen;
  const choices = containers.map(({ name }) => name).join(' ');
  const initChoices =
    initContainers.length === 0 ? '' : ` or one of the init containers: [${initContainers.map(({ name }) => name).join(' ')}]`;
  throw badRequest(`a container name must be specified for pod ${pod.metadata.name}, choose one of: [${choices}]${initChoices}`);
}

/** Holds what is written before the answer begins, so that a refusal can still be an answer of its own. */
function collectingSink(): StreamSink & { passTo(sink: StreamSink): void } {
  let target: StreamSink | undefined;
  let text = '';
  let ended = false;
  return {
    write: (more) => {
      if (target === undefined) text += more;
      else target.write(more);
    },
    end: () => {
      if (target === undefined) ended = true;
      else target.end();
    },
    passTo: (sink) => {
      target = sink;
      if (text !== '') sink.write(text);
      if (ended) sink.end();
    },
  };
}
