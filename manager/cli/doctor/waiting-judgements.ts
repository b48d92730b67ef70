import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { COPIES_FINALIZER, HOLD_ANNOTATION, MANAGER_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import type { ClusterQueue } from '../../api/cluster-queue.ts';
import type { SubmissionQueueObject } from '../../api/submission-queue.ts';
import { formatWork, operandOf, parseQualifiedName } from '../../work-kind/qualified-name.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import { note, ok, wrong, type Check } from '../checks.ts';
import { thresholdOf } from './alerts.ts';

/** How long objects have waited for what should have come by itself. `labelled` are Jobs and objects of other kinds with a queue. */

const MINUTE_MS = 60_000;
const STARVING_MS = thresholdOf('SwitchyardQueueStarving', 'seconds', 21_600) * 1000;
/** A deleted object waits for its copies, which wait for the grace period of their pods. */
const DELETION_MS = 15 * MINUTE_MS;

/** An object that waits longer than it should; one that is held waits for its user. */
export function judgeWaiting(kind: Pick<WorkKind, 'of' | 'isSuspended'>, labelled: Labelled, nowMs: number): Check[] {
  const waiting = labelled
    .filter((object) => kind.isSuspended(object) && !isFinished(object.status) && object.metadata.deletionTimestamp === undefined)
    .filter(({ metadata }) => metadata.annotations?.[HOLD_ANNOTATION] !== 'true')
    .filter(({ metadata }) => nowMs - Date.parse(metadata.creationTimestamp) > STARVING_MS)
    .toSorted((a, b) => Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp));
  const [oldest] = waiting;
  if (oldest === undefined) return [];
  const hours = STARVING_MS / (60 * MINUTE_MS);
  return [
    note(
      'waiting',
      `${waiting.length} wait for more than ${hours} h, ${formatWork(kind, oldest.metadata)} the longest`,
      `switchyard explain ${operandOf(oldest.metadata, kind.of(oldest.metadata.name).resource.kind)} says what for`,
      'SwitchyardQueueStarving',
    ),
  ];
}

type Labelled = readonly DeepReadonly<WorkObject>[];

/** Longer than any manager takes to say something of an object that it has seen. */
const SILENCE_MS = 20 * MINUTE_MS;

/** Objects that are Switchyard's, of which no manager has said a word. */
export function judgeUnmanaged(kind: Pick<WorkKind, 'of' | 'controllerOf'>, labelled: Labelled, nowMs: number): Check[] {
  const silent = labelled.filter(
    (object) =>
      kind.controllerOf(object) === MANAGER_CONTROLLER_NAME &&
      object.metadata.deletionTimestamp === undefined &&
      (object.status?.conditions ?? []).length === 0 &&
      nowMs - Date.parse(object.metadata.creationTimestamp) > SILENCE_MS,
  );
  const [first] = silent;
  if (first === undefined) return [];
  return [
    wrong(
      'unmanaged',
      `nobody has said anything of ${silent.length} ${nounOf(silent)} for ${SILENCE_MS / MINUTE_MS} min, such as ${formatWork(kind, first.metadata)}`,
      'look whether a manager runs, and leads',
      'SwitchyardJobsUnmanaged',
    ),
  ];
}

/** Queues of submissions that cannot be served. */
export function judgeSubmissionQueues(queues: readonly SubmissionQueueObject[]): Check[] {
  return queues.flatMap(({ metadata, status }) => {
    const bad = status?.conditions?.find((condition) => condition.status === 'False');
    if (bad === undefined) return [];
    const waiting = (status?.backlog ?? 0) === 0 ? '' : `; ${status?.backlog} submissions wait`;
    return [
      wrong(
        `submissions ${metadata.namespace}/${metadata.name}`,
        `${bad.type}=False (${bad.reason}): ${bad.message}${waiting}`,
        'look at its spec, and at Redis',
        'SwitchyardSubmissionBacklog',
      ),
    ];
  });
}

/** Queues in which Jobs wait, and none runs. */
export function judgeStuckQueues(clusterQueues: readonly ClusterQueue[]): Check[] {
  return clusterQueues
    .filter(
      ({ spec, status }) =>
        (spec.stopPolicy ?? 'None') === 'None' && (status?.pendingWorkloads ?? 0) > 0 && (status?.admittedWorkloads ?? 0) === 0,
    )
    .map(({ metadata, status }) =>
      note(
        `queue ${metadata.name}`,
        `${status?.pendingWorkloads ?? 0} wait, and none of its Jobs runs`,
        'switchyard get jobs shows why each waits; switchyard explain what would let it run',
        'SwitchyardQueueStuck',
      ),
    );
}

/** Objects that somebody has deleted, and that stay because of us. */
export function judgeDeletions(kind: Pick<WorkKind, 'of'>, labelled: Labelled, nowMs: number): Check {
  const stuck = labelled.filter(
    ({ metadata }) =>
      metadata.deletionTimestamp !== undefined &&
      nowMs - Date.parse(metadata.deletionTimestamp) > DELETION_MS &&
      metadata.finalizers?.includes(COPIES_FINALIZER) === true,
  );
  const [first] = stuck;
  if (first === undefined) return ok('deletions', 'no Job waits for its copies to go');
  return wrong(
    'deletions',
    `${stuck.length} deleted ${nounOf(stuck)} stay, such as ${formatWork(kind, first.metadata)}: their copies are not proven to be gone`,
    'look at their clusters; docs/uninstall.md says how one is given up',
    'SwitchyardFinalizersLeft',
  );
}

/** The word for several objects: `Jobs`, or `objects` where some are of another kind. */
const nounOf = (objects: Labelled): string => (objects.every(({ metadata }) => isJobName(metadata.name)) ? 'Jobs' : 'objects');
const isJobName = (name: string): boolean => parseQualifiedName(name).qualifier === undefined;
