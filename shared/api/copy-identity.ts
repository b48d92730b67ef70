/**
 * Whose a copy is, as its pod template says it: labels and annotations can be edited, and dropped by webhooks; the environment in the pod
 * template of a Job never changes, also while the Job is suspended (upstream lets only metadata, scheduling directives and resources of the
 * template be changed then).
 */
import { isJsonObject } from './json-value.ts';
import type { DeepReadonly, WorkObject } from './kubernetes.ts';
import { EPOCH_VARIABLE, JOB_UID_VARIABLE, JOB_VARIABLE, MANAGER_VARIABLE, ORIGIN_LABEL } from './names.ts';

export type TemplateIdentity = {
  readonly epoch: number;
  /** Key and UID of the Job on the manager cluster. */
  readonly namespace: string;
  readonly name: string;
  readonly originUid: string;
  /** Id of the manager; undefined in copies of releases that did not write it there. */
  readonly manager: string | undefined;
};

/** In the order in which every container of a copy begins with them. */
export const IDENTITY_VARIABLES = [EPOCH_VARIABLE, JOB_VARIABLE, JOB_UID_VARIABLE, MANAGER_VARIABLE] as const;
const VALUE_LENGTH_MAX = 400;

/** Whose copy a Job is, by its spec. */
export function templateIdentity(spec: unknown): TemplateIdentity | undefined {
  const template = isJsonObject(spec) ? spec['template'] : undefined;
  return podIdentity(isJsonObject(template) ? template['spec'] : undefined);
}

/**
 * Whose copy a pod runs for, by its spec: what the first container says that has these variables. Side by side: those of an earlier release
 * could be replaced by variables of the user, further down.
 */
export function podIdentity(pod: unknown): TemplateIdentity | undefined {
  const containers = isJsonObject(pod) ? pod['containers'] : undefined;
  if (!Array.isArray(containers)) return undefined;
  for (const container of containers as readonly unknown[]) {
    const env = isJsonObject(container) ? container['env'] : undefined;
    const found = Array.isArray(env) ? identityIn(env) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Whose copy an object is that has pod templates anywhere in its spec: what the first of them says. It looks no deeper than any known kind
 * has them.
 */
export function identityWithin(value: unknown, depth = DEPTH_MAX): TemplateIdentity | undefined {
  const found = podIdentity(value);
  if (found !== undefined || depth === 0 || typeof value !== 'object' || value === null) return found;
  for (const part of Object.values(value)) {
    const within = typeof part === 'object' ? identityWithin(part, depth - 1) : undefined;
    if (within !== undefined) return within;
  }
  return undefined;
}
const DEPTH_MAX = 16;

/** The manager whose copy a Job is; undefined: it is no copy. The template counts, and the label where it says nothing. */
export const originOf = ({ metadata, spec }: DeepReadonly<Pick<WorkObject, 'metadata' | 'spec'>>): string | undefined =>
  templateIdentity(spec)?.manager ?? metadata.labels?.[ORIGIN_LABEL];

function identityIn(env: readonly unknown[]): TemplateIdentity | undefined {
  const first = env.findIndex((variable) => isJsonObject(variable) && variable['name'] === EPOCH_VARIABLE);
  const [epoch, job, originUid, manager] = IDENTITY_VARIABLES.map((name, index) => valueOf(env[first + index], name));
  const [namespace, name, ...more] = job?.split('/') ?? [];
  if (epoch === undefined || !/^\d{1,15}$/.test(epoch) || !namespace || !name || more.length > 0 || !originUid) return undefined;
  return { epoch: Number(epoch), namespace, name, originUid, manager: manager === '' ? undefined : manager };
}

function valueOf(variable: unknown, name: string): string | undefined {
  if (!isJsonObject(variable) || variable['name'] !== name) return undefined;
  const { value } = variable;
  return typeof value === 'string' && value.length <= VALUE_LENGTH_MAX ? value : undefined;
}
