import type { ResourceStrategy } from '../resources/strategy.ts';
import { asPod, type DecodedPodSpec, type DecodedPodStatus } from './decoded.ts';
import { applyPodDefaults } from './pod-defaults.ts';
import { qosClassOf } from './pod-qos.ts';
import { validatePodStatusUpdate } from './pod-status-validation.ts';
import { withPodCondition } from './pod-conditions.ts';
import { podTable } from './pod-table.ts';
import { validatePodUpdate } from './pod-update-validation.ts';
import { validatePodCreate } from './pod-validation.ts';
import { podWarnings } from './pod-warnings.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';

/** core/v1 Pod: pkg/registry/core/pod of the API server. */
export const podStrategy: ResourceStrategy = {
  applyDefaults: applyPodDefaults,
  prepareForCreate: (object) => {
    const pod = asPod(object);
    pod.metadata.generation = 1;
    pod.status = initialStatus(pod.spec ?? {}, pod.metadata.creationTimestamp);
  },
  validateCreate: (object) => validatePodCreate(asPod(object)),
  warningsOnCreate: (object) => podWarnings(asPod(object)),
  prepareForUpdate: (object, stored) => {
    const next = asPod(object);
    const previous = asPod(stored);
    next.status = previous.status;
    const generation = previous.metadata.generation ?? 0;
    next.metadata.generation = semanticEqual(next.spec, previous.spec) ? generation : generation + 1;
  },
  validateUpdate: (object, stored) => validatePodUpdate(asPod(object), asPod(stored)),
  status: {
    prepareForUpdate: (object, stored) => {
      object['spec'] = stored['spec'];
      delete object.metadata.deletionTimestamp;
      // Kubelets write statuses; owners are none of their business.
      if (stored.metadata.ownerReferences === undefined) delete object.metadata.ownerReferences;
      else object.metadata.ownerReferences = stored.metadata.ownerReferences;
      // Old kubelets dropped it.
      const { status = {} } = asPod(object);
      if ((status.qosClass ?? '') === '') status.qosClass = asPod(stored).status?.qosClass;
    },
    validateUpdate: (object, stored) => validatePodStatusUpdate(asPod(object), asPod(stored)),
  },
  gracePeriodSeconds: (object, requestedSeconds) => {
    const { spec = {}, status = {} } = asPod(object);
    // Nothing runs for a pod that has no node yet, and nothing any more for one that has ended.
    if ((spec.nodeName ?? '') === '' || status.phase === 'Succeeded' || status.phase === 'Failed') return 0;
    const seconds = requestedSeconds ?? spec.terminationGracePeriodSeconds ?? 0;
    return seconds < 0 ? 1 : seconds;
  },
  returnsDeletedObject: true,
  selectableFields: (object) => {
    const { spec = {}, status = {} } = asPod(object);
    return {
      'spec.nodeName': spec.nodeName ?? '',
      'spec.restartPolicy': spec.restartPolicy ?? '',
      'spec.schedulerName': spec.schedulerName ?? '',
      'spec.serviceAccountName': spec.serviceAccountName ?? '',
      'spec.hostNetwork': String(spec.hostNetwork ?? false),
      'status.phase': status.phase ?? '',
      'status.podIP': status.podIP ?? '',
      'status.nominatedNodeName': status.nominatedNodeName ?? '',
    };
  },
  table: podTable,
};

const initialStatus = (spec: DecodedPodSpec, time: string): DecodedPodStatus => {
  const status: DecodedPodStatus = { phase: 'Pending', qosClass: qosClassOf(spec) };
  if ((spec.schedulingGates ?? []).length === 0) return status;
  const message = 'Scheduling is blocked due to non-empty scheduling gates';
  return withPodCondition(status, { type: 'PodScheduled', status: 'False', reason: 'SchedulingGated', message }, time);
};
