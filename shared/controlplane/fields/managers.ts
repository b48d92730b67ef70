import { isJsonObject } from '../apimachinery/json.ts';
import { omitUndefined } from '../../runtime/omit-undefined.ts';
import { type FieldSet, isEmptySet, union } from './field-set.ts';

/** One entry of metadata.managedFields: who owns which fields. */
export type Manager = {
  readonly name: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  /** '' for the main resource. */
  readonly subresource: string;
  /** RFC 3339; undefined for entries without time. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
};

/** Update entries that an object keeps apart; older ones are put together (DefaultMaxUpdateManagers). */
const UPDATE_MANAGERS_MAX = 10;
const BUCKET_NAME = 'ancient-changes';

/** Reads managedFields; undefined if an entry is malformed. */
export function readManagers(managedFields: unknown): Manager[] | undefined {
  if (!Array.isArray(managedFields)) return [];
  const managers = managedFields.map(readManager);
  return managers.every((manager) => manager !== undefined) ? managers : undefined;
}

function readManager(entry: unknown): Manager | undefined {
  if (!isJsonObject(entry) || (entry.operation !== 'Apply' && entry.operation !== 'Update')) return undefined;
  if (typeof entry.apiVersion !== 'string' || entry.apiVersion === '' || entry.fieldsType !== 'FieldsV1') return undefined;
  const fields = entry.fieldsV1 ?? {};
  if (!isFieldSet(fields)) return undefined;
  return {
    name: textOf(entry.manager),
    operation: entry.operation,
    apiVersion: entry.apiVersion,
    subresource: textOf(entry.subresource),
    time: typeof entry.time === 'string' ? entry.time : undefined,
    fields,
  };
}

/** A tree of objects whose keys are field names, list keys, values and indexes. */
const isFieldSet = (value: unknown): value is FieldSet =>
  isJsonObject(value) && Object.entries(value).every(([key, below]) => (key === '.' || /^[fvki]:/.test(key)) && isFieldSet(below));

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The manager as JSON shows it. */
const writeManager = (manager: Manager): object => ({
  ...(manager.name === '' ? {} : { manager: manager.name }),
  operation: manager.operation,
  apiVersion: manager.apiVersion,
  ...omitUndefined({ time: manager.time }),
  fieldsType: 'FieldsV1',
  fieldsV1: manager.fields,
  ...(manager.subresource === '' ? {} : { subresource: manager.subresource }),
});

/** The entries in upstream's order: appliers first, then by time and by name. */
export const writeManagers = (managers: readonly Manager[], keysInOrder: boolean): object[] =>
  (managers.length < 2 ? [...managers] : [...managers].sort(compareManagers)).map((manager) => {
    const entry = writeManager(manager);
    return keysInOrder ? Object.fromEntries(Object.entries(entry).toSorted(([a], [b]) => (a < b ? -1 : 1))) : entry;
  });

function compareManagers(left: Manager, right: Manager): number {
  const keys = ({ operation, time, name, apiVersion, subresource }: Manager): string[] => [
    operation,
    time ?? '',
    name,
    apiVersion,
    subresource,
  ];
  const [ofLeft, ofRight] = [keys(left), keys(right)];
  const at = ofLeft.findIndex((key, index) => key !== ofRight[index]);
  return at < 0 ? 0 : (ofLeft[at] ?? '') < (ofRight[at] ?? '') ? -1 : 1;
}

/** Whether two entries belong to one manager. The version of an applier may change. */
export const isSameManager = (left: Manager, right: Manager): boolean =>
  left.name === right.name &&
  left.operation === right.operation &&
  left.subresource === right.subresource &&
  (left.operation === 'Apply' || left.apiVersion === right.apiVersion);

export const withoutEmpty = (managers: readonly Manager[]): Manager[] => managers.filter(({ fields }) => !isEmptySet(fields));

/** Puts the oldest Update entries of one version together while there are too many. */
export function capUpdateManagers(managers: readonly Manager[]): Manager[] {
  const updates = managers.filter(({ operation }) => operation === 'Update');
  let surplus = updates.length - UPDATE_MANAGERS_MAX;
  if (surplus <= 0) return [...managers];
  const kept = new Set(managers);
  const oldestFirst = updates.sort((left, right) =>
    (left.time ?? '') < (right.time ?? '') ? -1 : (left.time ?? '') > (right.time ?? '') ? 1 : 0,
  );
  const buckets = new Map<string, Manager>();
  for (const manager of oldestFirst) {
    if (surplus <= 0) break;
    const first = buckets.get(manager.apiVersion);
    if (first !== undefined) {
      const bucket = { ...first, name: BUCKET_NAME, subresource: '', time: manager.time, fields: union(manager.fields, first.fields) };
      for (const merged of [first, manager]) kept.delete(merged);
      kept.add(bucket);
      buckets.set(manager.apiVersion, bucket);
      surplus--;
    } else buckets.set(manager.apiVersion, manager);
  }
  return [...kept];
}
