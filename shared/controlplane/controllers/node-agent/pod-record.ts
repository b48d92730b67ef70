import type { Container, ContainerStatus, DeepReadonly, Pod } from '../../../api/kubernetes.ts';
import { omitUndefined } from '../../../runtime/omit-undefined.ts';
import type { ContainerRecord } from './pod-status.ts';

export type RestartPolicy = 'Always' | 'OnFailure' | 'Never';

export const newRecord = (container: DeepReadonly<Container>, reason: string): ContainerRecord => ({
  name: container.name,
  image: container.image ?? '',
  state: { kind: 'waiting', reason },
  last: undefined,
  restarts: 0,
  started: false,
});

export const DEADLINE_EXCEEDED = 'Pod was active on the node longer than the specified deadline';

export const NOT_LOCATED: ContainerRecord['state'] = {
  kind: 'terminated',
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was terminated',
};

/** Takes over what the API knows of a container; one that was running then is not any more. */
export function restoreEnded(record: ContainerRecord, statuses: readonly DeepReadonly<ContainerStatus>[] | undefined): void {
  const status = statuses?.find(({ name }) => name === record.name);
  if (status === undefined) return;
  record.restarts = status.restartCount;
  const { terminated, running } = status.state ?? {};
  if (terminated !== undefined) {
    const { exitCode, reason = 'Error', message, startedAt, finishedAt } = terminated;
    record.state = {
      kind: 'terminated',
      exitCode,
      reason,
      ...omitUndefined({ message }),
      ...(startedAt === undefined ? {} : { startedAtMs: Date.parse(startedAt) }),
      ...(finishedAt === undefined ? {} : { finishedAtMs: Date.parse(finishedAt) }),
    };
  } else if (running !== undefined) {
    record.last = NOT_LOCATED;
    record.restarts++;
  }
}

export const restartPolicyOf = ({ spec }: DeepReadonly<Pod>): RestartPolicy =>
  spec.restartPolicy === 'Never' || spec.restartPolicy === 'OnFailure' ? spec.restartPolicy : 'Always';
