import type { Attachment } from '../../shared/api/attachment.ts';
import type { DeepReadonly, WorkObject } from '../../shared/api/kubernetes.ts';
import { ATTACHMENTS_ANNOTATION } from '../../shared/api/names.ts';
import { configKeyProblems, dns1123SubdomainProblems } from '../../shared/kube/name-formats.ts';
import type { FieldProblem } from './field-problem.ts';
import { isJsonObject, parseJson } from './json-value.ts';
import type { PodReference } from './pod-references.ts';

/** ConfigMaps of one submission. */
export const ATTACHMENTS_MAX = 8;
/** The bytes of their values together, and the bound of Kubernetes for each. */
export const ATTACHMENTS_BYTES_MAX = 1024 * 1024;
/** A ConfigMap is named `NAME-DIGEST`. */
export const ATTACHMENT_DIGEST_LENGTH = 12;
export const ATTACHMENT_NAME_MAX = 253 - 1 - ATTACHMENT_DIGEST_LENGTH;

export type ReadAttachments =
  | { readonly kind: 'Attachments'; readonly attachments: readonly Attachment[] }
  | { readonly kind: 'Refused'; readonly problems: readonly FieldProblem[] };

/** Reads `attachments` of a payload, which may be anything. */
export function readAttachments(value: unknown): ReadAttachments {
  if (value === undefined) return { kind: 'Attachments', attachments: [] };
  if (!Array.isArray(value)) return refused('attachments', 'is no list; write [{name, data, binaryData}], or leave it out');
  if (value.length > ATTACHMENTS_MAX)
    return refused('attachments', `has ${value.length} ConfigMaps, and at most ${ATTACHMENTS_MAX} are taken; put several files into one`);
  const problems = value.flatMap((each: unknown, index) => problemsOf(`attachments[${index}]`, each));
  if (problems.length > 0) return { kind: 'Refused', problems };
  const attachments = value as readonly Attachment[];
  const twice = attachments.findIndex(({ name }, index) => attachments.findIndex((other) => other.name === name) < index);
  if (twice >= 0)
    return refused(`attachments[${twice}].name`, `${JSON.stringify(attachments[twice]?.name)} is there twice; put both into one`);
  const bytes = attachments.reduce((sum, each) => sum + bytesOf(each), 0);
  if (bytes > ATTACHMENTS_BYTES_MAX)
    return refused(
      'attachments',
      `have ${bytes} bytes, and at most ${ATTACHMENTS_BYTES_MAX} are taken; put large files into an image or a volume`,
    );
  return { kind: 'Attachments', attachments };
}

const refused = (field: string, problem: string): ReadAttachments => ({ kind: 'Refused', problems: [{ field, problem }] });

function problemsOf(field: string, value: unknown): FieldProblem[] {
  if (!isJsonObject(value)) return [{ field, problem: 'is no object; write {name, data, binaryData}' }];
  const { name, data = {}, binaryData = {}, ...others } = value;
  const [other] = Object.keys(others);
  if (other !== undefined)
    return [{ field: `${field}.${other.slice(0, 64)}`, problem: 'is unknown; an attachment is a ConfigMap of name, data and binaryData' }];
  const problems = nameProblems(name).map((problem) => ({ field: `${field}.name`, problem }));
  const keys = isJsonObject(data) ? Object.keys(data) : [];
  return [
    ...problems,
    ...textsProblems(`${field}.data`, data, textProblem),
    ...textsProblems(`${field}.binaryData`, binaryData, (key, text) => {
      if (Buffer.from(text, 'base64').toString('base64') !== text) return 'is no base64';
      return keys.includes(key) ? 'is in data as well; give it in one of them' : undefined;
    }),
  ];
}

/** An API server would store another text. */
const textProblem = (_key: string, text: string): string | undefined =>
  text.isWellFormed() ? undefined : 'has half of a surrogate pair; give it as binaryData';

function nameProblems(name: unknown): readonly string[] {
  if (typeof name !== 'string' || name === '') return ['is missing; give the name that the manifest refers to'];
  if (name.length > ATTACHMENT_NAME_MAX)
    return [`has ${name.length} characters, and at most ${ATTACHMENT_NAME_MAX} are taken; give it a shorter one`];
  return dns1123SubdomainProblems(name);
}

function textsProblems(field: string, value: unknown, problemOf: (key: string, text: string) => string | undefined): FieldProblem[] {
  if (!isJsonObject(value)) return [{ field, problem: 'is no object of texts' }];
  return Object.entries(value).flatMap(([key, text]) => {
    const place = `${field}[${key.slice(0, 64)}]`;
    const [wrongKey] = configKeyProblems(key);
    if (wrongKey !== undefined) return [{ field: place, problem: wrongKey }];
    const problem = typeof text === 'string' ? problemOf(key, text) : 'is no text; put it in quotes';
    return problem === undefined ? [] : [{ field: place, problem }];
  });
}

const bytesOf = ({ data = {}, binaryData = {} }: Attachment): number =>
  Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text), 0) +
  Object.values(binaryData).reduce((sum, text) => sum + Buffer.byteLength(text, 'base64'), 0);

/** The ConfigMaps that were made of the attachments of an object, by name: the digest of their content. */
type Attached = Readonly<Record<string, string>>;

/** The annotation of an object whose submission brought these along. */
export const attachedText = (attached: Attached): string => JSON.stringify(attached);

function attachedTo({ annotations }: DeepReadonly<Partial<WorkObject['metadata']>>): ReadonlyMap<string, string> {
  const text = annotations?.[ATTACHMENTS_ANNOTATION];
  const value = text === undefined ? undefined : parseJson(text);
  if (!isJsonObject(value)) return NONE;
  return new Map(Object.entries(value).flatMap(([name, digest]) => (typeof digest === 'string' ? [[name, digest]] : [])));
}
const NONE: ReadonlyMap<string, string> = new Map();

/** The references of an object's pods, of which those to its attachments always travel, and are never optional. */
export function withAttached(
  references: readonly PodReference[],
  metadata: DeepReadonly<Partial<WorkObject['metadata']>>,
): readonly PodReference[] {
  const attached = attachedTo(metadata);
  if (attached.size === 0) return references;
  return references.map((reference) => {
    const content = reference.kind === 'ConfigMap' ? attached.get(reference.name) : undefined;
    return content === undefined ? reference : { ...reference, optional: false, content };
  });
}

/** The name that a submission gave to an attachment of this object; undefined: it is none. */
export function submittedNames(
  metadata: DeepReadonly<Partial<WorkObject['metadata']>>,
): ((reference: PodReference) => string | undefined) | undefined {
  const attached = attachedTo(metadata);
  if (attached.size === 0) return undefined;
  return ({ kind, name }) => (kind === 'ConfigMap' && attached.has(name) ? name.slice(0, -1 - ATTACHMENT_DIGEST_LENGTH) : undefined);
}
