import type { TablePrinter } from '../resources/strategy.ts';
import { ageOf, humanDuration } from './age.ts';
import { asPod, type DecodedPod, type DecodedPodStatus } from './decoded.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

type ContainerStatus = NonNullable<DecodedPodStatus['containerStatuses']>[number];

/** How `kubectl get pods` shows pods. */
export const podTable: TablePrinter = {
  columns: [
    NAME_COLUMN,
    column('Ready', 'The aggregate readiness state of this pod for accepting traffic.'),
    column('Status', 'The aggregate status of the containers in this pod.'),
    column(
      'Restarts',
      'The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.',
    ),
    AGE_COLUMN,
    column('IP', 'IP address allocated to the pod. Routable at least within the cluster. Empty if not yet allocated.', { wide: true }),
    column('Node', 'NodeName indicates in which node this pod is scheduled.', { wide: true }),
    column('Nominated Node', 'nominatedNodeName is set only when this pod preempts other pods on the node.', { wide: true }),
    column('Readiness Gates', 'If specified, all readiness gates will be evaluated for pod readiness.', { wide: true }),
  ],
  cells: (object, now) => {
    const pod = asPod(object);
    const { spec = {}, status = {} } = pod;
    const statuses = status.containerStatuses ?? [];
    return [
      pod.metadata.name,
      `${statuses.filter((each) => each.ready === true && each.state?.running !== undefined).length}/${(spec.containers ?? []).length}`,
      podReason(pod),
      restartsOf(pod, now),
      ageOf(pod.metadata.creationTimestamp, now),
      status.podIP || '<none>',
      spec.nodeName || '<none>',
      status.nominatedNodeName || '<none>',
      readinessGatesOf(pod),
    ];
  },
  rowConditions: (object) => {
    const completed = COMPLETED[asPod(object).status?.phase ?? ''];
    return completed === undefined ? undefined : [{ type: 'Completed', status: 'True', ...completed }];
  },
};

/** What tells clients that may hide finished pods which those are. */
const COMPLETED: Readonly<Record<string, { reason: string; message: string }>> = {
  Succeeded: { reason: 'Succeeded', message: 'The pod has completed successfully.' },
  Failed: { reason: 'Failed', message: 'The pod failed.' },
};

/** The one word for the state of a pod: the most telling of its phase, its containers and its deletion. */
const podReason = (pod: DecodedPod): string => {
  const { metadata, status = {} } = pod;
  const initializing = initReason(pod);
  let reason = initializing ?? containersReason(pod);
  if (metadata.deletionTimestamp !== undefined) {
    if (status.reason === 'NodeLost') reason = 'Unknown';
    else if (status.phase !== 'Succeeded' && status.phase !== 'Failed') reason = 'Terminating';
  }
  return reason;
};

const phaseReason = ({ status = {} }: DecodedPod): string => {
  const gate = (status.conditions ?? []).find(({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated');
  return gate === undefined ? status.reason || status.phase || '' : 'SchedulingGated';
};

const endReason = ({ state }: ContainerStatus): string | undefined => {
  const ended = state?.terminated;
  if (ended === undefined) return undefined;
  if (ended.reason) return ended.reason;
  return ended.signal ? `Signal:${ended.signal}` : `ExitCode:${ended.exitCode ?? 0}`;
};

/** Undefined once all init containers are done. */
const initReason = ({ spec = {}, status = {} }: DecodedPod): string | undefined => {
  const init = spec.initContainers ?? [];
  const sidecars = new Set(init.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name));
  for (const [i, container] of (status.initContainerStatuses ?? []).entries()) {
    const ended = container.state?.terminated;
    if (ended !== undefined && (ended.exitCode ?? 0) === 0) continue;
    if (sidecars.has(container.name) && container.started === true) continue;
    if (ended !== undefined) return `Init:${endReason(container)}`;
    const waiting = container.state?.waiting?.reason ?? '';
    return waiting !== '' && waiting !== 'PodInitializing' ? `Init:${waiting}` : `Init:${i}/${init.length}`;
  }
  return undefined;
};

const containersReason = (pod: DecodedPod): string => {
  const statuses = pod.status?.containerStatuses ?? [];
  let reason = phaseReason(pod);
  let running = false;
  for (const container of statuses.toReversed()) {
    const waiting = container.state?.waiting?.reason ?? '';
    if (waiting !== '') reason = waiting;
    else if (container.state?.terminated !== undefined) reason = endReason(container) ?? reason;
    else if (container.ready === true && container.state?.running !== undefined) running = true;
  }
  if (reason !== 'Completed' || !running) return reason;
  const ready = (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');
  return ready ? 'Running' : 'NotReady';
};

const restartsOf = (pod: DecodedPod, now: number): string => {
  const { spec = {}, status = {} } = pod;
  const sidecars = new Set((spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name));
  const init = status.initContainerStatuses ?? [];
  const counted =
    initReason(pod) === undefined ? [...init.filter(({ name }) => sidecars.has(name)), ...(status.containerStatuses ?? [])] : init;
  const restarts = counted.reduce((sum, { restartCount }) => sum + (restartCount ?? 0), 0);
  const last = Math.max(...counted.map(({ lastState }) => Date.parse(lastState?.terminated?.finishedAt ?? '')).filter(Number.isFinite));
  return restarts > 0 && Number.isFinite(last) ? `${restarts} (${humanDuration(now - last)} ago)` : String(restarts);
};

const readinessGatesOf = ({ spec = {}, status = {} }: DecodedPod): string => {
  const gates = spec.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  const met = gates.filter(({ conditionType }) =>
    (status.conditions ?? []).some((condition) => condition.type === conditionType && condition.status === 'True'),
  );
  return `${met.length}/${gates.length}`;
};
