import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { contextForPods } from '../../../shared/api/job-trace.ts';
import {
  BUILT_IN_JOB_CONTROLLER_NAME,
  DISPATCH_EPOCH_ANNOTATION,
  FENCING_ANNOTATION,
  JOB_CONTROLLER_ANNOTATION,
  ORIGIN_LABEL,
  ORIGIN_NAME_ANNOTATION,
  ORIGIN_UID_ANNOTATION,
  TRACE_PODS_ANNOTATION,
  TRACEPARENT_ANNOTATION,
  TRACEPARENT_VARIABLE,
} from '../../../shared/api/names.ts';
import { formatTraceparent } from '../../../shared/api/trace-context.ts';
import { objectKey } from '../../../shared/kube/keys.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { travelsToCopy } from '../../policy/job-parts.ts';
import { variablesOf } from '../copy-marks.ts';
import type { CopyOptions } from '../copy-options.ts';

type Original = DeepReadonly<Pick<WorkObject, 'metadata'>>;

/** With this annotation kubectl would take the copy for an object that it has applied. */
const HOME_ANNOTATIONS = ['kubectl.kubernetes.io/last-applied-configuration'];

/** The labels of a copy: those of its original that travel, and the mark of its manager. */
export const copiedLabels = ({ metadata }: Original, origin: string, isLeftOut: (name: string) => boolean): Record<string, string> => ({
  ...travelling(metadata.labels, isLeftOut),
  [ORIGIN_LABEL]: origin,
});

/** The annotations of a copy: those of its original that travel, and its identity. */
export function copiedAnnotations(
  local: Original,
  options: CopyOptions,
  isLeftOut: (name: string) => boolean = () => false,
): Record<string, string> {
  return {
    ...travelling(local.metadata.annotations, (name) => HOME_ANNOTATIONS.includes(name) || isLeftOut(name)),
    [ORIGIN_UID_ANNOTATION]: local.metadata.uid,
    [DISPATCH_EPOCH_ANNOTATION]: String(options.epoch),
    ...(options.jobController === BUILT_IN_JOB_CONTROLLER_NAME ? {} : { [JOB_CONTROLLER_ANNOTATION]: options.jobController }),
    ...(options.fenced === false ? { [FENCING_ANNOTATION]: 'off' } : {}),
    ...(options.local ? { [ORIGIN_NAME_ANNOTATION]: local.metadata.name } : {}),
    ...omitUndefined({ [TRACEPARENT_ANNOTATION]: traceparentFor(local, options) }),
  };
}

/** A queue label, for example, would make the manager or the Kueue of the worker cluster queue the copy. */
const travelling = (map: Readonly<Record<string, string>> | undefined, isLeftOut: (name: string) => boolean): Record<string, string> =>
  Object.fromEntries(Object.entries(map ?? {}).filter(([name]) => travelsToCopy(name) && !isLeftOut(name)));

/**
 * What every container of a copy gets in its environment. First the fence token: a store can tell writes of an earlier placement from those
 * of a later one, and the manager its copies from other objects. The epoch rises when the original moves, and only then: a copy that rests
 * and resumes in place keeps it. Then the trace context: a template may be immutable, so a copy is created with it, or never has it.
 */
export function variablesForPods(local: Original, options: CopyOptions): readonly { readonly name: string; readonly value: string }[] {
  const { metadata } = local;
  const token = variablesOf({ localKey: objectKey({ metadata }), originUid: metadata.uid, epoch: options.epoch }, options.origin);
  const wish = metadata.annotations?.[TRACE_PODS_ANNOTATION];
  const trace = wish === 'on' || (wish !== 'off' && options.tracing?.pods === true) ? traceparentFor(local, options) : undefined;
  return trace === undefined ? token : [...token, { name: TRACEPARENT_VARIABLE, value: trace }];
}

function traceparentFor(local: Original, { tracing }: CopyOptions): string | undefined {
  const context = contextForPods(local, tracing?.ratio);
  return context && formatTraceparent(context);
}
