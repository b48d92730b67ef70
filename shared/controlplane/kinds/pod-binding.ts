import type { AnyObject } from '../apimachinery/object.ts';
import { badRequest, conflict, unknownError } from '../apimachinery/status-error.ts';
import { asPod } from './decoded.ts';
import { withPodCondition } from './pod-conditions.ts';

/** A Binding as a client sent it. Its own uid and resourceVersion, where given, are preconditions on the pod. */
export type Binding = {
  readonly metadata: { readonly name?: string; readonly annotations?: Record<string, string>; readonly labels?: Record<string, string> };
  readonly target?: { readonly kind?: string; readonly name?: string };
};

/** What is wrong with a Binding before any pod is looked at. Throws 400, or the bare 500 that upstream answers here. */
export const checkBinding = (podName: string, binding: Binding): void => {
  if ((binding.metadata.name ?? '') !== podName) throw badRequest('name in URL does not match name in Binding object');
  const { kind = '', name = '' } = binding.target ?? {};
  const problems: string[] = [];
  if (kind !== '' && kind !== 'Node') {
    problems.push(`target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`);
  }
  if (name === '') problems.push('target.name: Required value');
  if (problems.length > 0) throw unknownError(problems.length === 1 ? String(problems[0]) : `[${problems.join(', ')}]`);
};

/** The pod on its node. Throws 409 when it cannot be bound. `time` is a wire time; the pod given is not changed. */
export const bindPod = (object: AnyObject, binding: Binding, time: string): AnyObject => {
  const pod = asPod(object);
  const { metadata, spec = {}, status = {} } = pod;
  const refuse = (why: string): never => {
    throw conflict({ group: '', resource: 'pods/binding' }, metadata.name, `pod ${metadata.name} ${why}`);
  };
  if (metadata.deletionTimestamp !== undefined) refuse('is being deleted, cannot be assigned to a host');
  if ((spec.nodeName ?? '') !== '') refuse(`is already assigned to node ${JSON.stringify(spec.nodeName)}`);
  if ((spec.schedulingGates ?? []).length > 0) refuse('has non-empty .spec.schedulingGates');
  const annotations = { ...metadata.annotations, ...binding.metadata.annotations };
  // Labels that the pod has already are its own.
  const labels = { ...binding.metadata.labels, ...metadata.labels };
  return {
    ...pod,
    metadata: {
      ...metadata,
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
      ...(Object.keys(labels).length > 0 ? { labels } : {}),
    },
    spec: { ...spec, nodeName: binding.target?.name },
    status: withPodCondition(status, { type: 'PodScheduled', status: 'True' }, time),
  };
};
