import type { DecodedPodSpec } from './decoded.ts';
import { POD_TYPES } from './go-pod-types.ts';

type TypeName = keyof typeof POD_TYPES;
type GoField = {
  readonly name: string;
  /** Its name in a decoded object. */
  readonly from: string;
  readonly absent: 'text' | 'number' | 'boolean' | 'amount' | 'null' | 'struct';
  readonly type: TypeName | undefined;
  readonly isEmbedded: boolean;
};

/** A pod's spec as Go writes upstream's internal type, indented by one space (json.MarshalIndent). */
export const goPodSpecText = (spec: DecodedPodSpec): string =>
  JSON.stringify(goStruct(toInternal(spec), 'PodSpec'), undefined, 1).replaceAll(/[<>&\u2028\u2029]/g, escaped);

/** What upstream keeps elsewhere than in its API: what a pod shares with its host is part of its security context. */
const toInternal = ({
  hostNetwork,
  hostPID,
  hostIPC,
  hostUsers,
  shareProcessNamespace,
  securityContext,
  ...spec
}: DecodedPodSpec): object => ({
  ...spec,
  securityContext: { ...securityContext, hostNetwork, hostPID, hostIPC, hostUsers, shareProcessNamespace },
});

const goStruct = (value: object, type: TypeName): Record<string, unknown> => {
  const given = new Map<string, unknown>(Object.entries(value));
  const written: Record<string, unknown> = {};
  for (const field of fieldsOf(type)) {
    if (!field.isEmbedded) written[field.name] = goField(given.get(field.from), field);
    else if (field.type !== undefined) Object.assign(written, goStruct(value, field.type));
    // Metadata of a claim's template, which does have JSON names.
    else Object.assign(written, given.get('metadata'));
  }
  return written;
};

const goField = (value: unknown, { absent, type }: GoField): unknown => {
  if (value === undefined || value === null) return type !== undefined && absent === 'struct' ? goStruct({}, type) : ZERO[absent];
  if (type === undefined) return isRecord(value) ? inOrderOfKeys(value) : value;
  if (Array.isArray(value)) return value.map((item: unknown) => goStruct(isRecord(item) ? item : {}, type));
  return goStruct(isRecord(value) ? value : {}, type);
};

const ZERO = { text: '', number: 0, boolean: false, amount: '0', null: null, struct: {} } as const;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Maps are written in the order of their keys; a label selector, which is no map, has its two fields in the other order. */
const inOrderOfKeys = (value: Record<string, unknown>): Record<string, unknown> => {
  const { matchLabels, matchExpressions } = value;
  if (isRecord(matchLabels) || Array.isArray(matchExpressions)) {
    return {
      ...(isRecord(matchLabels) ? { matchLabels: inOrderOfKeys(matchLabels) } : {}),
      ...(matchExpressions === undefined ? {} : { matchExpressions }),
    };
  }
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
};

const fieldsOf = (type: TypeName): readonly GoField[] => FIELDS.get(type) ?? [];

const parseField = (text: string): GoField => {
  const [, embedded, name = '', from, mark = '', type = ''] = /^(\+?)(\w+)(?:=(\w+))?(\[\]|[*:#!%?])?(\w*)$/.exec(text) ?? [];
  if (embedded === '+') return { name, from: '', absent: 'null', type: typeNamed(name), isEmbedded: true };
  return {
    name,
    from: from ?? name.charAt(0).toLowerCase() + name.slice(1),
    absent: ABSENT[mark] ?? 'null',
    type: typeNamed(type),
    isEmbedded: false,
  };
};

const ABSENT: Readonly<Record<string, GoField['absent']>> = { '': 'text', '#': 'number', '!': 'boolean', '%': 'amount', ':': 'struct' };

const typeNamed = (name: string): TypeName | undefined => (name in POD_TYPES ? (name as TypeName) : undefined);

const FIELDS: ReadonlyMap<string, readonly GoField[]> = new Map(
  Object.entries(POD_TYPES).map(([name, text]) => [name, text.trim().split(/\s+/).map(parseField)]),
);

/** As encoding/json writes characters that mean something to HTML or JavaScript. */
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
