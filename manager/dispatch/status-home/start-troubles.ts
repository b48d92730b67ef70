import { isJsonObject } from '../../api/json-value.ts';
import { sanitizeText } from '../../api/sanitize-text.ts';

/**
 * Why the pods of a copy do not start, in one line of bounded length: the most frequent waiting reason of the pods read, and the newest
 * Warning event of the copy, such as a failed pod creation. Undefined when neither gives a reason. The cluster is not trusted: all text is
 * sanitized and used for display alone.
 */
export function startTrouble(pods: readonly unknown[], events: readonly unknown[], active: number): string | undefined {
  const waits = pods.flatMap(waitOf);
  const reasons = waits.map(({ reason }) => reason);
  const commonest = waits.toSorted((one, other) => timesOf(other.reason, reasons) - timesOf(one.reason, reasons))[0];
  const waiting =
    commonest &&
    `${Math.max(active, pods.length)} ${Math.max(active, pods.length) === 1 ? 'pod waits' : 'pods wait'}: ${textOf(commonest)}`;
  const warning = events.flatMap(warningOf).toSorted((one, other) => other.atMs - one.atMs)[0];
  const told = [waiting, warning && textOf(warning)].filter((each) => each !== undefined);
  return told.length === 0 ? undefined : told.join('; ');
}

type Reason = { readonly reason: string; readonly message: string };
const textOf = ({ reason, message }: Reason): string => (message === '' ? reason : `${reason}: ${message}`);
const timesOf = (reason: string, all: readonly string[]): number => all.filter((each) => each === reason).length;

/** Why a pod waits: the first container with a waiting reason, or a failed PodScheduled condition. */
function waitOf(pod: unknown): Reason[] {
  const status = field(pod, 'status');
  for (const statuses of [field(status, 'initContainerStatuses'), field(status, 'containerStatuses')]) {
    for (const container of listOf(statuses)) {
      const said = reasonOf(field(field(container, 'state'), 'waiting'));
      if (said !== undefined) return [said];
    }
  }
  const condition = listOf(field(status, 'conditions')).find(
    (each) => field(each, 'type') === 'PodScheduled' && field(each, 'status') === 'False',
  );
  const said = reasonOf(condition);
  return said === undefined ? [] : [said];
}

function warningOf(event: unknown): (Reason & { readonly atMs: number })[] {
  if (field(event, 'type') !== 'Warning') return [];
  const said = reasonOf(event);
  const times = ['lastTimestamp', 'eventTime', 'firstTimestamp'].map((name) => field(event, name));
  const time = times.find((each) => typeof each === 'string');
  return said === undefined ? [] : [{ ...said, atMs: (typeof time === 'string' && Date.parse(time)) || 0 }];
}

const REASON_LENGTH_MAX = 64;
const MESSAGE_LENGTH_MAX = 256;
/** Items read of a list that the worker cluster returned. */
const ITEMS_MAX = 20;

function reasonOf(object: unknown): Reason | undefined {
  const reason = field(object, 'reason');
  if (typeof reason !== 'string' || reason === '') return undefined;
  const message = field(object, 'message');
  return {
    reason: sanitizeText(reason, REASON_LENGTH_MAX),
    message: typeof message === 'string' ? sanitizeText(message, MESSAGE_LENGTH_MAX) : '',
  };
}
const field = (object: unknown, name: string): unknown => (isJsonObject(object) ? object[name] : undefined);
const listOf = (list: unknown): readonly unknown[] => (Array.isArray(list) ? list.slice(0, ITEMS_MAX) : []);
