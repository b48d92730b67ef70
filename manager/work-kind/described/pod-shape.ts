import { isJsonObject } from '../../api/json-value.ts';

/**
 * Why a value is no pod template, as far as the manager reads one; undefined: it is one. Definitions of kinds need not check the pod
 * templates in them: anything may stand there, at home and even more in what a worker cluster returns.
 */
export function templateProblem(template: unknown): string | undefined {
  if (!isJsonObject(template)) return 'is missing, and must be a pod template';
  const { metadata, spec } = template;
  if (!isJsonObject(spec)) return 'spec is missing, and must be that of a pod';
  if (!isOptional(metadata, isLabelled)) return 'metadata.labels must be an object of strings';
  const problem = partsProblem(POD, spec);
  return problem === undefined ? undefined : `spec${problem}`;
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

/** What is wrong, behind the path of the value. Paths are made only where something is. */
function partsProblem(parts: Parts, value: unknown): string | undefined {
  if (!isJsonObject(value)) return ' must be an object';
  for (const field of Object.keys(value)) {
    const part = Object.hasOwn(parts, field) ? parts[field] : undefined;
    const problem = part === undefined ? undefined : partProblem(part, value[field]);
    if (problem !== undefined) return `.${field}${problem}`;
  }
  return undefined;
}

function partProblem(part: Check | Parts | readonly [Parts], value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof part === 'function') return part(value) ? undefined : ' is of a wrong type';
  if (!isList(part)) return partsProblem(part, value);
  if (!Array.isArray(value)) return ' must be a list';
  const [item] = part;
  for (const [index, each] of value.entries()) {
    const problem = partsProblem(item, each);
    if (problem !== undefined) return `[${index}]${problem}`;
  }
  return undefined;
}

const isList = (part: Parts | readonly [Parts]): part is readonly [Parts] => Array.isArray(part);
