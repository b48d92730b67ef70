import type { Job } from '../../../shared/api/kubernetes.ts';
import { parseAllDocuments } from 'yaml';
import { KUEUE_QUEUE_NAME_LABEL, QUEUE_NAME_LABEL } from '../../../shared/api/names.ts';
import type { Attachment } from '../../../shared/api/attachment.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { readAttachments } from '../../api/attachments.ts';
import { isJsonObject } from '../../api/json-value.ts';
import { formatProblems, type FieldProblem } from '../../api/field-problem.ts';
import { prepareJob, readJobManifest, type JobManifest } from '../../policy/prepare-job.ts';
import { CommandError } from '../command-error.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';

export type SubmitDefaults = {
  readonly namespace: string;
  /** The LocalQueue of Jobs that name none, by namespace. */
  readonly queueOf: (namespace: string) => string | undefined;
};

/** The namespaces of those Jobs of a file that name no LocalQueue. */
export const namespacesWithoutQueue = (file: string, text: string, namespace: string): string[] =>
  itemsOf(file, text).flatMap(({ item }) => {
    const metadata = isJsonObject(item) && isJsonObject(item['metadata']) ? item['metadata'] : undefined;
    if (metadata === undefined) return [];
    const labels = isJsonObject(metadata['labels']) ? metadata['labels'] : {};
    const isNamed = [QUEUE_NAME_LABEL, KUEUE_QUEUE_NAME_LABEL].some((label) => labels[label] !== undefined);
    return isNamed ? [] : [typeof metadata['namespace'] === 'string' ? metadata['namespace'] : namespace];
  });

/** The Jobs of a file, ready to be made. Throws {@link CommandError} naming file, document and field of the first that cannot be one. */
export const jobsOf = (kind: WorkKind<Job>, file: string, text: string, defaults: SubmitDefaults): JobManifest[] =>
  itemsOf(file, text).map(({ where, item }) => jobOf(kind, where, item, defaults));

/**
 * The Jobs of a file as they are put on a queue of submissions, which says itself where they go and makes them Switchyard's: nothing is
 * added but the LocalQueue. Objects of other kinds are among them: which kinds are taken, the manager knows. ConfigMaps of the file go with
 * the Jobs that refer to them. Throws as {@link jobsOf}.
 */
export function submissionsOf(kind: WorkKind<Job>, file: string, text: string, queue: string | undefined): FileSubmission[] {
  const items = itemsOf(file, text);
  const [configMaps, works] = [items.filter(isConfigMap), items.filter((each) => !isConfigMap(each))];
  if (works.length === 0) throw noJob(file);
  const brought = configMaps.map(({ where, item }) => attachmentOf(where, item as Record<string, unknown>));
  const unused = new Set(brought.map(({ name }) => name));
  const submissions = works.map(({ where, item }): FileSubmission => {
    const read = isOfOtherKind(kind, item) ? undefined : readJobManifest(kind, item);
    if (read?.kind === 'Refused') throw refused(where, read.problems);
    // Which ConfigMaps an object of another kind refers to, the manager knows.
    const referred = read && new Set(kind.references(read.manifest).flatMap((each) => (each.kind === 'ConfigMap' ? [each.name] : [])));
    const attachments = brought.filter(({ name }) => referred?.has(name) ?? true);
    for (const { name } of attachments) unused.delete(name);
    return { manifest: withQueue(read?.manifest ?? (item as object), item, queue), attachments };
  });
  const [first] = unused;
  if (first !== undefined)
    throw new CommandError(`${file}: no Job of this file refers to its ConfigMap ${first}; refer to it by this name, or leave it out`);
  return submissions;
}

/** A manifest, and the ConfigMaps of its file that go with it. */
export type FileSubmission = { readonly manifest: object; readonly attachments: readonly Attachment[] };

function withQueue(manifest: object, item: unknown, queue: string | undefined): object {
  if (queue === undefined || !isJsonObject(item)) return manifest;
  const metadata = isJsonObject(item['metadata']) ? item['metadata'] : {};
  const labels = isJsonObject(metadata['labels']) ? metadata['labels'] : {};
  return { ...item, metadata: { ...metadata, labels: { [QUEUE_NAME_LABEL]: queue, ...labels } } };
}

const isConfigMap = ({ item }: Item): boolean => isJsonObject(item) && item['apiVersion'] === 'v1' && item['kind'] === 'ConfigMap';

/** Its labels and annotations stay where they are. */
function attachmentOf(where: string, { metadata, data, binaryData }: Record<string, unknown>): Attachment {
  const name = isJsonObject(metadata) ? metadata['name'] : undefined;
  const read = readAttachments([{ name, ...omitUndefined({ data: data ?? undefined, binaryData: binaryData ?? undefined }) }]);
  if (read.kind === 'Attachments' && read.attachments[0] !== undefined) return read.attachments[0];
  const problems = read.kind === 'Refused' ? read.problems : [];
  const named = problems.map(({ field, problem }) => ({ field: field.replace(/^attachments(?:\[0])?\.?/, '') || 'ConfigMap', problem }));
  throw refused(where, named);
}

/** Whether there are objects of other kinds than Job in a file. */
export const hasOtherKinds = (kind: WorkKind<Job>, file: string, text: string): boolean =>
  itemsOf(file, text).some(({ item }) => isOfOtherKind(kind, item));

const isOfOtherKind = ({ resource }: WorkKind<Job>, item: unknown): boolean =>
  isJsonObject(item) && typeof item['apiVersion'] === 'string' && typeof item['kind'] === 'string' && item['kind'] !== resource.kind;

type Item = { readonly where: string; readonly item: unknown };

function itemsOf(file: string, text: string): Item[] {
  const documents = parseAllDocuments(text);
  const found = [...documents].flatMap((document, index) => {
    const where = documents.length === 1 ? file : `${file}, document ${index + 1}`;
    const [flaw] = document.errors;
    if (flaw !== undefined) throw new CommandError(`${where}: it is no YAML: ${flaw.message.split('\n')[0] ?? ''}`);
    const value: unknown = document.toJS();
    if (value === null || value === undefined) return [];
    const items = isJsonObject(value) && value['kind'] === 'List' && Array.isArray(value['items']) ? value['items'] : [value];
    return items.map((item: unknown) => ({ where, item }));
  });
  if (found.length === 0) throw noJob(file);
  return found;
}

const noJob = (file: string): CommandError => new CommandError(`${file}: there is no Job in it; write a batch/v1 Job`);

function jobOf(kind: WorkKind<Job>, where: string, value: unknown, { namespace, queueOf }: SubmitDefaults): JobManifest {
  const read = readJobManifest(kind, withNamespace(value, namespace));
  if (read.kind === 'Refused') throw refused(where, read.problems);
  const { manifest } = read;
  const queue = queueOf(manifest.metadata.namespace ?? namespace);
  const labels = { ...(queue === undefined ? {} : { [QUEUE_NAME_LABEL]: queue }), ...manifest.metadata.labels };
  const preparation = prepareJob(kind, { ...manifest, metadata: { ...manifest.metadata, labels } });
  if (preparation.kind === 'Refused') throw refused(where, preparation.problems);
  return preparation.job;
}

/** As kubectl: whoever names no namespace gets that of the context. */
const withNamespace = (value: unknown, namespace: string): unknown =>
  isJsonObject(value) && isJsonObject(value['metadata']) && value['metadata']['namespace'] === undefined
    ? { ...value, metadata: { ...value['metadata'], namespace } }
    : value;

const refused = (where: string, problems: readonly FieldProblem[]): CommandError =>
  new CommandError(`${where}: ${formatProblems(problems)}`);
