import { isJsonObject } from '../../../shared/api/json-value.ts';
import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { CONTROLLER_UID_LABEL } from '../../../shared/api/names.ts';

const LABEL_VALUE = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LABEL_NAME = /^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LABELS_MAX = 16;

/** The label selector of a copy's pods; undefined where the copy has no usable one. */
export function podSelector({ metadata, spec }: DeepReadonly<Job>): string | undefined {
  // With a manual selector, pods have no label of the Job controller.
  const labels = spec.manualSelector === true ? labelsIn(spec.selector?.matchLabels) : { [CONTROLLER_UID_LABEL]: metadata.uid };
  const terms = Object.entries(labels);
  const isAskable = terms.length > 0 && terms.length <= LABELS_MAX && terms.every(isLabel);
  return isAskable ? terms.map(([name, value]) => `${name}=${String(value)}`).join(',') : undefined;
}

const labelsIn = (value: unknown): Readonly<Record<string, unknown>> => (isJsonObject(value) ? value : {});

const isLabel = ([name, value]: [string, unknown]): boolean =>
  LABEL_NAME.test(name) && typeof value === 'string' && LABEL_VALUE.test(value);
