import { type Answer, NO_CONTENT, textAnswer } from '../request/answer.ts';
import type { StreamSink } from '../request/answer.ts';
import type { Call } from '../request/call.ts';
import type { Registry } from '../registry/registry.ts';
import type { ServedResource } from '../resources/served-resources.ts';
import { badRequest, notFound, unknownError } from '../apimachinery/status-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { Subresource } from '../endpoints/subresource.ts';
import { asPod, type DecodedPod } from '../kinds/decoded.ts';
import { type PodLogOptions, readPodLogOptions } from './pod-log-options.ts';

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

type Served = { readonly pods: ServedResource; readonly nodes: ServedResource };

/** `GET pods/x/log`. */
export const podLogSubresource = (registry: Registry, logs: PodLogs, served: Served): Subresource => ({
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: 'log',
  methods: { GET: (call) => readLog(registry, logs, call, served) },
});

/** In upstream's order: the options, the pod, its container, its node, and only then whoever has the log. */
function readLog(registry: Registry, logs: PodLogs, call: Call, { pods, nodes }: Served): Answer {
  const { query, namespace, name } = call.info;
  const asked = readPodLogOptions(query, name);
  const pod = registry.get(pods, namespace, name).object;
  const options = { ...asked, container: containerOf(asPod(pod), asked.container) };
  const nodeName = asPod(pod).spec?.nodeName ?? '';
  if (nodeName === '') return NO_CONTENT;
  const node = nodes.table.get('', nodeName);
  if (node === undefined) throw notFound(pods.groupResource, nodeName);
  const collected = collectingSink();
  const stop = logs.open(pod, options, collected);
  if (stop === undefined) {
    if (!hasAddress(node.object)) throw unknownError('no preferred addresses found; known addresses: []');
    // A pod that its node only imagines has an empty log.
    return textAnswer(200, '');
  }
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

const hasAddress = (node: AnyObject): boolean =>
  ((node['status'] ?? {}) as { addresses?: readonly unknown[] }).addresses?.[0] !== undefined;

/** The container whose log is meant; a pod with several wants one to be named. Init and ephemeral containers have logs, too. */
function containerOf({ metadata, spec = {} }: DecodedPod, asked: string): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec;
  const names = [...initContainers, ...containers, ...ephemeralContainers].map(({ name = '' }) => name);
  if (asked !== '') {
    if (names.includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${metadata.name}`);
  }
  const [only, ...others] = containers;
  if (only !== undefined && others.length === 0) return only.name ?? '';
  throw badRequest(`a container name must be specified for pod ${metadata.name}, choose one of: [${names.join(' ')}]`);
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
