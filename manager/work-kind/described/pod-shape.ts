import { isJsonObject } from '../../api/json-value.ts';

/**
 * Why a value is no pod template, as far as the manager reads one; undefined: it is one. Definitions of kinds need not check the pod
 * templates in them: anything may stand there, at home and even more in what a worker cluster returns.
 */
export function templateProblem(template: unknown): string | undefined {
  if (!isJsonObject(template)) return 'is missing, and must be a pod template';
  const { metadata, spec } = template;
  const problem = isOptional(metadata, isLabelled) ? partsProblem(POD, spec, 'spec') : 'metadata.labels must be an object of strings';
  return isJsonObject(spec) ? problem : 'spec is missing, and must be that of a pod';
}

type Check = (value: unknown) => boolean;
interface Parts {
  readonly [field: string]: Check | Parts | readonly [Parts];
}

/** Go clients write an empty list as null. */
const isOptional = (value: unknown, check: Check): boolean => value === undefined || value === null || check(value);
const isText: Check = (value) => typeof value === 'string';
const isNumber: Check = (value) => typeof value === 'number';
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const isTextMap: Check = (value) => isJsonObject(value) && Object.values(value).every(isText);
const isAmounts: Check = (value) => isJsonObject(value) && Object.values(value).every((each) => isText(each) || isNumber(each));
const isLabelled: Check = (value) => isJsonObject(value) && isOptional(value['labels'], isTextMap);

const NAMED = { name: isText };
const RESOURCES = { requests: isAmounts, limits: isAmounts, claims: [NAMED] as const };
const SOURCE = { configMapRef: NAMED, secretRef: NAMED };
const CONTAINER: Parts = {
  ...NAMED,
  restartPolicy: isText,
  resources: RESOURCES,
  env: [{ ...NAMED, valueFrom: { configMapKeyRef: NAMED, secretKeyRef: NAMED } }],
  envFrom: [SOURCE],
};
const TERM: Parts = {
  matchExpressions: [{ key: isText, operator: isText, values: isTexts }],
  matchFields: [{ key: isText, operator: isText, values: isTexts }],
};
const POD: Parts = {
  containers: [CONTAINER],
  initContainers: [CONTAINER],
  serviceAccountName: isText,
  serviceAccount: isText,
  volumes: [
    {
      ...NAMED,
      persistentVolumeClaim: { claimName: isText },
      configMap: NAMED,
      secret: { secretName: isText },
      projected: { sources: [{ configMap: NAMED, secret: NAMED }] },
    },
  ],
  imagePullSecrets: [NAMED],
  nodeSelector: isTextMap,
  tolerations: [{ key: isText, operator: isText, value: isText, effect: isText }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [TERM] },
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: isNumber, preference: TERM }],
    },
  },
  resources: RESOURCES,
  overhead: isAmounts,
  resourceClaims: [NAMED],
  priorityClassName: isText,
  runtimeClassName: isText,
  terminationGracePeriodSeconds: isNumber,
};

function partsProblem(parts: Parts, value: unknown, path: string): string | undefined {
  if (!isJsonObject(value)) return `${path} must be an object`;
  for (const [field, part] of Object.entries(parts)) {
    const problem = partProblem(part, value[field], `${path}.${field}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function partProblem(part: Parts[string], value: unknown, path: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof part === 'function') return part(value) ? undefined : `${path} is of a wrong type`;
  if (!isList(part)) return partsProblem(part, value, path);
  if (!Array.isArray(value)) return `${path} must be a list`;
  const [item] = part;
  for (const [index, each] of value.entries()) {
    const problem = partsProblem(item, each, `${path}[${index}]`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const isList = (part: Parts | readonly [Parts]): part is readonly [Parts] => Array.isArray(part);
