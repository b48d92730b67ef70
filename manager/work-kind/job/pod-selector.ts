import { isJsonObject } from '../../../shared/api/json-value.ts';
import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { CONTROLLER_UID_LABEL } from '../../../shared/api/names.ts';
import { selectorText } from '../copy/selector-text.ts';

/** The label selector of a copy's pods; undefined where the copy has no usable one. */
export function podSelector({ metadata, spec }: DeepReadonly<Job>): string | undefined {
  // With a manual selector, pods have no label of the Job controller.
  return selectorText(spec.manualSelector === true ? labelsIn(spec.selector?.matchLabels) : { [CONTROLLER_UID_LABEL]: metadata.uid });
}

const labelsIn = (value: unknown): Readonly<Record<string, unknown>> => (isJsonObject(value) ? value : {});
