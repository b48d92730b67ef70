import { type FieldPath, parsePath, pathText } from './field-path.ts';
import { isJsonObject } from './json-value.ts';
import type { DeepReadonly, KubeObject, WorkStatus } from './kubernetes.ts';
import { FENCED_ANNOTATION } from './names.ts';
import type { Resource } from './resources.ts';

/** A kind of work beside Jobs, as far as a worker knows it. */
export type FencedKind = {
  readonly resource: Resource<WorkOfKind>;
  /** The field that suspends an object. */
  readonly suspend: FieldPath;
  /** The type of the condition by which its operator says so; undefined: there is none. */
  readonly suspendedCondition: string | undefined;
};

/** An object of such a kind. */
export type WorkOfKind = KubeObject & { spec?: object; status?: WorkStatus };

/**
 * How long the operator of a kind has to stop a copy that its worker has suspended, before the worker deletes its pods. A manager waits
 * for so much longer before it counts the copy as stopped.
 */
export const OPERATOR_GRACE_MS = 10_000;

/** The worker of a copy has suspended it because the manager was out of reach, and has not resumed it yet. */
export const isSuspendedByWorker = ({ metadata }: DeepReadonly<Pick<KubeObject, 'metadata'>>): boolean =>
  metadata.annotations?.[FENCED_ANNOTATION] !== undefined;

/** By this name manager and worker mean the same kind and version. */
export const fencedKindName = ({ plural, version, group }: Pick<Resource, 'plural' | 'version' | 'group'>): string =>
  `${plural}.${version}.${group}`;

/** As the Lease of an origin has them; undefined where there are none. */
export const formatFencedKinds = (kinds: readonly FencedKind[]): string | undefined =>
  kinds.length === 0
    ? undefined
    : JSON.stringify(
        kinds.map(({ resource: { group, version, plural, kind }, suspend, suspendedCondition }) => ({
          group,
          version,
          plural,
          kind,
          suspend: pathText(suspend),
          suspendedCondition,
        })),
      );

/** Entries that cannot be read are left out, and so are those of Kubernetes' own groups: a copy is never one of those. */
export function parseFencedKinds(annotation: string | undefined): readonly FencedKind[] {
  if (annotation === undefined || annotation.length > CHARACTERS_MAX) return [];
  let entries: unknown;
  try {
    entries = JSON.parse(annotation);
  } catch {
    // Whoever wrote this was no manager: it makes no copies of any kind.
    return [];
  }
  return (Array.isArray(entries) ? (entries as readonly unknown[]) : []).slice(0, FENCED_KINDS_MAX).flatMap((entry) => read(entry) ?? []);
}

function read(entry: unknown): FencedKind | undefined {
  if (!isJsonObject(entry)) return undefined;
  const { group, version, plural, kind, suspend, suspendedCondition } = entry;
  if (!isMatch(group, /^[a-z0-9.-]+\.[a-z]+$/) || !isMatch(version, /^v\d[a-z0-9]*$/) || !isMatch(plural, /^[a-z]+$/)) return undefined;
  if (!isMatch(kind, /^[A-Za-z]+$/) || typeof suspend !== 'string') return undefined;
  const path = parsePath(suspend);
  if (path === undefined || path[0] !== 'spec' || path.length < 2 || path.some((step) => typeof step === 'number')) return undefined;
  const condition = isMatch(suspendedCondition, /^[A-Za-z]+$/) ? suspendedCondition : undefined;
  return { resource: { group, version, plural, kind, namespaced: true }, suspend: path, suspendedCondition: condition };
}

const isMatch = (value: unknown, pattern: RegExp): value is string =>
  typeof value === 'string' && value.length <= NAME_CHARACTERS_MAX && pattern.test(value);

/** More than anybody describes. */
export const FENCED_KINDS_MAX = 100;
const CHARACTERS_MAX = 32 * 1024;
const NAME_CHARACTERS_MAX = 253;
