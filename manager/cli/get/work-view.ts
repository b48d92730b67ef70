import { exportedTraceId } from '../../../shared/api/job-trace.ts';
import type { DeepReadonly, KubeObject, WorkObject } from '../../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME, QUEUE_NAME_LABEL } from '../../../shared/api/names.ts';
import { apiVersionOf } from '../../../shared/api/resources.ts';
import { userOf } from '../../api/creator.ts';
import { holdOf, queueNameOf } from '../../api/job-annotations.ts';
import { writtenRecordOf, type AdmissionRecord } from '../../api/records.ts';
import { wordOfKind } from '../../work-kind/qualified-name.ts';
import type { SingleKind, WorkKind } from '../../work-kind/work-kind.ts';
import { workRow, type JobRow } from '../job-row.ts';
import { ageColumn, type ColumnOf, type KindView } from './kinds.ts';

/**
 * How objects of these kinds of work are shown, in one table. Objects say their `apiVersion` and `kind`, and have the names and fields that
 * their API server knows.
 */
export function workView(name: string, kinds: readonly SingleKind[]): KindView {
  const byType = new Map(kinds.map((kind) => [`${apiVersionOf(kind.resource)} ${kind.resource.kind}`, kind]));
  const shown = (object: KubeObject): Shown => {
    const kind = byType.get(`${object.apiVersion} ${object.kind}`);
    if (kind === undefined) throw new Error(`${object.apiVersion} ${object.kind} is of none of the listed kinds`);
    const own = object as WorkObject;
    // The conditions of some kinds are in an annotation.
    return { kind, object: kind.cache.whole({ ...own, metadata: { ...own.metadata } }) };
  };
  return {
    name,
    resources: kinds.map(({ resource }) => resource),
    columns: [NAME_COLUMN, ...(kinds.length > 1 ? [KIND_COLUMN] : []), ...WORK_COLUMNS].map(({ cell, ...column }) => ({
      ...column,
      cell: (object, nowMs) => cell(shown(object), nowMs),
    })),
    isOurs: (object) => isManaged(shown(object)),
    note: (object) => whyOf(shown(object)),
  };
}

type Shown = { readonly object: DeepReadonly<WorkObject>; readonly kind: Pick<WorkKind, 'resource' | keyof Asked> };
type Asked = Pick<WorkKind, 'controllerOf' | 'isSuspended' | 'progress'>;

const isManaged = ({ object, kind }: Shown): boolean => kind.controllerOf(object) === MANAGER_CONTROLLER_NAME;

/** An object of any kind as a row. */
export const rowOf = (object: DeepReadonly<WorkObject>, kind: Asked): JobRow =>
  workRow(object, { isSuspended: kind.isSuspended(object), progress: kind.progress(object) });

/** State of an object as it is shown: one that still runs is not held yet. */
export function stateOf(object: DeepReadonly<WorkObject>, kind: Asked): string {
  if (kind.controllerOf(object) !== MANAGER_CONTROLLER_NAME) return 'Unmanaged';
  const { state } = rowOf(object, kind);
  const hold = holdOf(object);
  return state === 'Waiting' && hold.kind === 'Hold' && hold.held === true ? 'Held' : state;
}

const recordOf = (object: DeepReadonly<WorkObject>): AdmissionRecord | undefined => {
  const written = writtenRecordOf(object);
  return written.kind === 'Record' ? written.record : undefined;
};

const NAME_COLUMN: ColumnOf<Shown> = { head: 'NAME', cell: ({ object }) => object.metadata.name };
const KIND_COLUMN: ColumnOf<Shown> = { head: 'KIND', cell: ({ kind }) => wordOfKind(kind.resource) };

const WORK_COLUMNS: readonly ColumnOf<Shown>[] = [
  { head: 'QUEUE', cell: ({ object }) => queueNameOf(object) ?? '-', spare: 3 },
  { head: 'CLUSTER', cell: ({ object, kind }) => rowOf(object, kind).cluster ?? '-' },
  { head: 'STATE', cell: ({ object, kind }) => stateOf(object, kind) },
  { head: 'ACTIVE', cell: ({ object, kind }) => String(kind.progress(object).active), spare: 1 },
  { head: 'OK', cell: ({ object, kind }) => String(kind.progress(object).succeeded), spare: 4 },
  { head: 'FAILED', cell: ({ object, kind }) => String(kind.progress(object).failed), spare: 0 },
  { ...ageColumn, cell: ({ object }, nowMs) => ageColumn.cell(object, nowMs) },
  { head: 'CLUSTERQUEUE', cell: ({ object }) => recordOf(object)?.clusterQueue ?? '-', wide: true },
  { head: 'USER', cell: ({ object }) => userOf(object) ?? '-', wide: true },
  { head: 'REQUESTS', cell: ({ object }) => quantities(recordOf(object)?.requests), wide: true },
  { head: 'TRACE', cell: ({ object }) => exportedTraceId(object) ?? '-', wide: true },
  { head: 'WHY', cell: (shown) => whyOf(shown) || '-', wide: true },
];

/** The heads of columns of work; `KIND` only beside objects of other kinds. */
export const WORK_COLUMN_NAMES: readonly string[] = [NAME_COLUMN, KIND_COLUMN, ...WORK_COLUMNS].map(({ head }) => head);

/** Why it waits, has failed, or is not Switchyard's. */
function whyOf(shown: Shown): string {
  const { object, kind } = shown;
  if (isManaged(shown)) return rowOf(object, kind).reason;
  return queueNameOf(object) === undefined
    ? `no label ${QUEUE_NAME_LABEL}; switchyard explain says how to mend that`
    : `managed by ${kind.controllerOf(object) ?? 'nobody'}`;
}

const quantities = (amounts: Readonly<Record<string, string>> | undefined): string =>
  amounts === undefined
    ? '-'
    : Object.entries(amounts)
        .map(([resource, amount]) => `${resource}=${amount}`)
        .join(',');
