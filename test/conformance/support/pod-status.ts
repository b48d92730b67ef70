import type { Pod } from '../../../shared/api/kubernetes.ts';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import type { Step } from './scenario.ts';

/** The status a kubelet would write when the pod does what the step says. */
export function podStatus(pod: Pod, step: Step, nowMs: number): object {
  const now = toWireTime(nowMs);
  const extra = (step.conditions ?? []).map((condition) => ({ lastTransitionTime: now, status: 'True', ...condition }));
  const ready = (status: 'True' | 'False', reason?: string): object => ({
    type: 'Ready',
    status,
    lastTransitionTime: now,
    ...(reason ? { reason } : {}),
  });
  const containers = (isReady: boolean, state: (name: string) => object, restartCount = 0): object[] =>
    pod.spec.containers.map(({ name }) => ({ name, image: 'i', imageID: 'i', ready: isReady, restartCount, state: state(name) }));
  const running = { running: { startedAt: now } };
  const terminated = (exitCode: number): object => ({ terminated: { exitCode, startedAt: now, finishedAt: now } });
  switch (step.do) {
    case 'run':
      return {
        phase: 'Running',
        startTime: now,
        conditions: [ready('False'), ...extra],
        containerStatuses: containers(false, () => running, step.restarts),
      };
    case 'ready':
      return {
        phase: 'Running',
        startTime: pod.status?.startTime ?? now,
        conditions: [ready('True'), ...extra],
        containerStatuses: containers(true, () => running, step.restarts),
      };
    case 'succeed':
      return {
        phase: 'Succeeded',
        conditions: [ready('False', 'PodCompleted'), ...extra],
        containerStatuses: containers(false, () => terminated(0)),
      };
    case 'fail': {
      const exitCodeOf = (name: string): number => (step.container === undefined || step.container === name ? (step.exitCode ?? 1) : 0);
      return {
        phase: 'Failed',
        ...(step.reason ? { reason: step.reason } : {}),
        conditions: [ready('False'), ...extra],
        containerStatuses: containers(false, (name) => terminated(exitCodeOf(name))),
      };
    }
    default:
      throw new Error(`a scenario asks for ${step.do}, which nobody knows how to do`);
  }
}
