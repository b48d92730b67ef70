/** What the pods of a copy ended with: an annotation that the worker writes with the status, and the manager reads. */

/** How a pod ended. Whoever reads this from an annotation has texts of somebody else, bounded and no more. */
export type EndedPod = {
  readonly pod: string;
  /** Stopped: it had not ended by itself when it was counted. */
  readonly phase: 'Succeeded' | 'Failed' | 'Stopped';
  readonly index?: number;
  /** The container that the rest is about: the first that failed, else the first. */
  readonly container?: string;
  readonly exitCode?: number;
  /** Of the container (`OOMKilled`), or of the pod (`Evicted`). */
  readonly reason?: string;
  /** What the container left as its termination message. */
  readonly message?: string;
  readonly node?: string;
  readonly started?: string;
  readonly ended?: string;
  /** Of its log. */
  readonly lastLine?: string;
  /** The tail of its log is kept (log-tails.ts). */
  readonly tail?: boolean;
};

/** So many pods that failed are kept of a Job: the first, which tell the cause, and the latest. */
const FIRST_FAILED = 10;
const LATEST_FAILED = 40;
const LATEST_OTHERS = 10;
/** Of the annotation; all annotations of an object together may have 256 KiB. */
export const ENDED_PODS_BYTES_MAX = 32 * 1024;
/** Texts of one pod. */
const NAME_LENGTH_MAX = 253;
export const LINE_LENGTH_MAX = 160;

/** The text of the annotation: what it had, and these pods, of which later word replaces earlier. */
export function formatEndedPods(before: readonly EndedPod[], news: readonly EndedPod[]): string {
  const byName = new Map(before.map((each) => [each.pod, each]));
  for (const each of news) byName.set(each.pod, { ...byName.get(each.pod), ...each });
  return textOf(bounded([...byName.values()]));
}

function bounded(pods: readonly EndedPod[]): EndedPod[] {
  const failed = pods.filter(({ phase }) => phase === 'Failed');
  const others = pods.filter(({ phase }) => phase !== 'Failed').slice(-LATEST_OTHERS);
  const kept = failed.length <= FIRST_FAILED + LATEST_FAILED ? failed : [...failed.slice(0, FIRST_FAILED), ...failed.slice(-LATEST_FAILED)];
  const all = new Set([...kept, ...others]);
  return pods.filter((each) => all.has(each));
}

/** Where it is too long the oldest but the first go. */
function textOf(pods: EndedPod[]): string {
  for (let text = JSON.stringify(pods); ; text = JSON.stringify(pods)) {
    if (Buffer.byteLength(text) <= ENDED_PODS_BYTES_MAX || pods.length === 0) return text;
    pods.splice(Math.min(1, pods.length - 1), Math.max(1, Math.floor(pods.length / 8)));
  }
}

/** What stands there, of the kind that it should be; nothing where it is something else, or more than a worker writes. */
export function parseEndedPods(text: string | undefined): readonly EndedPod[] {
  if (text === undefined || text.length > ENDED_PODS_BYTES_MAX) return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Somebody else has written it.
    return [];
  }
  return Array.isArray(parsed) ? bounded(parsed.flatMap((each: unknown) => readPod(each) ?? [])) : [];
}

function readPod(value: unknown): EndedPod | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = value as Readonly<Record<string, unknown>>;
  const pod = text(fields['pod'], NAME_LENGTH_MAX);
  const phase = PHASES.find((each) => each === fields['phase']);
  if (pod === undefined || phase === undefined) return undefined;
  const read: Record<string, unknown> = {
    index: count(fields['index']),
    exitCode: count(fields['exitCode']),
    tail: fields['tail'] === true ? true : undefined,
  };
  for (const name of ['container', 'reason', 'node', 'started', 'ended']) read[name] = text(fields[name], NAME_LENGTH_MAX);
  for (const name of ['message', 'lastLine']) read[name] = text(fields[name], LINE_LENGTH_MAX);
  return { pod, phase, ...Object.fromEntries(Object.entries(read).filter(([, each]) => each !== undefined)) };
}

const PHASES = ['Succeeded', 'Failed', 'Stopped'] as const;
const text = (value: unknown, lengthMax: number): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= lengthMax ? value : undefined;
const count = (value: unknown): number | undefined => (typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined);
