import type { Job } from '../../../../shared/api/kubernetes.ts';
import {
  DISPATCH_EPOCH_ANNOTATION,
  FENCING_ANNOTATION,
  JOB_CONTROLLER_ANNOTATION,
  ORIGIN_LABEL,
  ORIGIN_NAME_ANNOTATION,
  ORIGIN_UID_ANNOTATION,
  CARRY_PENDING_ANNOTATION,
  RESUMED_FROM_ANNOTATION,
} from '../../../../shared/api/names.ts';
import { objectKey } from '../../../../shared/kube/keys.ts';
import { omitUndefined } from '../../../../shared/runtime/omit-undefined.ts';
import { endedPodsKept } from '../../copy/ended-pods-kept.ts';
import { isJsonObject } from '../../../api/json-value.ts';
import { copyIdentity, variablesOf, type CopyIdentity } from '../../copy-marks.ts';
import { sanitizeRemoteStatus } from './sanitize-remote-status.ts';
import { hasVerdict } from '../status-home/to-local-status.ts';

/**
 * The fields of a copy that decisions read, each of the right type. Thousands are cached, and a worker cluster may return anything in them.
 * Copies have names of their own only where they are next to their originals. Elsewhere a copy belongs to the Job of its name, so that a
 * Job has one copy on a cluster, whatever identity the copies claim.
 */
export function essentialsOfCopy(copy: Job, besideOriginal: boolean): Job {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, labels, annotations } = copy.metadata;
  const status = sanitizeRemoteStatus(copy.status);
  const spec = essentialsOfSpec(copy.spec);
  const essentials: Job = {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      creationTimestamp: shortText(creationTimestamp) ?? '',
      labels: texts(labels, [ORIGIN_LABEL]),
      annotations: {
        ...essentialMarks(annotations, besideOriginal),
        ...endedPodsKept(annotations, hasVerdict(status) || spec.suspend === true),
      },
      ...omitUndefined({ deletionTimestamp: shortText(deletionTimestamp) }),
    },
    spec,
    ...omitUndefined({ status }),
  };
  const inTemplate = copyIdentity({ metadata: { ...copy.metadata, annotations: {} }, spec: copy.spec });
  return withIdentity(essentials, inTemplate, besideOriginal);
}

const essentialMarks = (annotations: unknown, besideOriginal: boolean): Record<string, string> =>
  texts(annotations, [
    ORIGIN_UID_ANNOTATION,
    DISPATCH_EPOCH_ANNOTATION,
    FENCING_ANNOTATION,
    JOB_CONTROLLER_ANNOTATION,
    CARRY_PENDING_ANNOTATION,
    RESUMED_FROM_ANNOTATION,
    ...(besideOriginal ? [ORIGIN_NAME_ANNOTATION] : []),
  ]);

/** The identity comes from the template, which is cached only where the annotations differ from it. */
function withIdentity(essentials: Job, identity: CopyIdentity | undefined, besideOriginal: boolean): Job {
  const { metadata, spec } = essentials;
  if (identity === undefined) return essentials;
  const localKey = besideOriginal ? identity.localKey : objectKey(essentials);
  const told = copyIdentity({ metadata });
  if (told?.originUid === identity.originUid && told.epoch === identity.epoch && told.localKey.name === localKey.name) return essentials;
  const [first = { name: '' }, ...others] = spec.template.spec?.containers ?? [];
  const env = variablesOf({ ...identity, localKey }).map((variable) => ({ ...variable }));
  return { ...essentials, spec: { ...spec, template: { spec: { ...spec.template.spec, containers: [{ ...first, env }, ...others] } } } };
}

/** All fields that may change after creation, and the pod fields that requests depend on. */
const SPEC_FIELDS = [
  'suspend',
  'parallelism',
  'completions',
  'completionMode',
  'backoffLimit',
  'activeDeadlineSeconds',
  'maxFailedIndexes',
  'podReplacementPolicy',
  'managedBy',
];
const POD_FIELDS = ['nodeSelector', 'tolerations', 'affinity', 'schedulingGates', 'resources', 'overhead', 'resourceClaims'];
const CONTAINER_FIELDS = ['name', 'resources', 'restartPolicy'];

function essentialsOfSpec(spec: unknown): Job['spec'] {
  const fields = isJsonObject(spec) ? spec : {};
  const template = isJsonObject(fields['template']) ? fields['template'] : {};
  const pod = isJsonObject(template['spec']) ? template['spec'] : {};
  // The names are those of the type; the values are only compared with the desired copy, and never sent.
  return {
    ...some(fields, SPEC_FIELDS),
    template: {
      spec: { ...some(pod, POD_FIELDS), ...containers(pod, 'initContainers'), containers: [], ...containers(pod, 'containers') },
    },
  } as Job['spec'];
}

function containers(pod: Readonly<Record<string, unknown>>, field: string): Record<string, unknown> {
  const list = pod[field];
  if (!Array.isArray(list)) return {};
  return { [field]: list.filter(isJsonObject).map((container) => some(container, CONTAINER_FIELDS)) };
}

const some = (fields: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])));

const SHORT_LENGTH_MAX = 253;
const shortText = (value: unknown, lengthMax = SHORT_LENGTH_MAX): string | undefined =>
  typeof value === 'string' && value.length <= lengthMax ? value : undefined;

const texts = (map: unknown, names: readonly string[], lengthMax = SHORT_LENGTH_MAX): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = isJsonObject(map) ? shortText(map[name], lengthMax) : undefined;
      return value === undefined ? [] : [[name, value]];
    }),
  );
