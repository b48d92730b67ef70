import { isJsonObject } from '../../shared/api/json-value.ts';
import { podIdentity } from '../../shared/api/copy-identity.ts';
import { JOB_COMPLETION_INDEX } from '../../shared/api/names.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';
import { isPodName } from '../../shared/kube/keys.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';

/** A pod of a copy, as reported by its cluster: checked for types, and not trusted beyond that. */
export type CopyPod = {
  readonly name: string;
  readonly phase: Phase;
  readonly index?: number;
  readonly startedMs?: number;
  /** The container whose log is read: the first. */
  readonly container: string;
};

const PHASES = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'] as const;
type Phase = (typeof PHASES)[number];

/**
 * The pods of a list that this copy controls: labels and names prove nothing. `originUid`: of a kind whose operator may put objects between
 * the copy and its pods, those that run for this original by their environment.
 */
export const podsOfCopy = (items: readonly unknown[], copyUid: string, originUid?: string): CopyPod[] =>
  items.flatMap((item) => {
    const { metadata, spec, status } = recordOf(item);
    const { name, ownerReferences, annotations } = recordOf(metadata);
    const isControlled = listOf(ownerReferences).some(
      (owner) => recordOf(owner)['controller'] === true && recordOf(owner)['uid'] === copyUid,
    );
    const isItsOwn = isControlled || (originUid !== undefined && podIdentity(spec)?.originUid === originUid);
    if (!isItsOwn || typeof name !== 'string' || !isPodName(name)) return [];
    const container = recordOf(listOf(recordOf(spec)['containers'])[0])['name'];
    if (typeof container !== 'string' || !isPodName(container)) return [];
    const { phase, startTime } = recordOf(status);
    return [
      {
        name,
        container,
        phase: PHASES.find((each) => each === phase) ?? 'Unknown',
        ...omitUndefined({
          index: indexOf(recordOf(annotations)[JOB_COMPLETION_INDEX]),
          startedMs: typeof startTime === 'string' ? parseWireTime(startTime) : undefined,
        }),
      },
    ];
  });

export const hasEnded = ({ phase }: Pick<CopyPod, 'phase'>): boolean => phase === 'Succeeded' || phase === 'Failed';

function indexOf(said: unknown): number | undefined {
  return typeof said === 'string' && /^\d{1,9}$/.test(said) ? Number(said) : undefined;
}

const recordOf = (value: unknown): Record<string, unknown> => (isJsonObject(value) ? value : {});
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
