import type { Job } from '../../../shared/api/kubernetes.ts';
import { parseAllDocuments } from 'yaml';
import { KUEUE_QUEUE_NAME_LABEL, QUEUE_NAME_LABEL } from '../../../shared/api/names.ts';
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
 * added but the LocalQueue. Objects of other kinds are among them: which kinds are taken, the manager knows. Throws as {@link jobsOf}.
 */
export const submissionsOf = (kind: WorkKind<Job>, file: string, text: string, queue: string | undefined): object[] =>
  itemsOf(file, text).map(({ where, item }) => {
    const read = isOfOtherKind(kind, item) ? undefined : readJobManifest(kind, item);
    if (read?.kind === 'Refused') throw refused(where, read.problems);
    if (queue === undefined || !isJsonObject(item)) return read?.manifest ?? (item as object);
    const metadata = isJsonObject(item['metadata']) ? item['metadata'] : {};
    const labels = isJsonObject(metadata['labels']) ? metadata['labels'] : {};
    return { ...item, metadata: { ...metadata, labels: { [QUEUE_NAME_LABEL]: queue, ...labels } } };
  });

/** Whether there are objects of other kinds than Job in a file. */
export const hasOtherKinds = (kind: WorkKind<Job>, file: string, text: string): boolean =>
  itemsOf(file, text).some(({ item }) => isOfOtherKind(kind, item));

const isOfOtherKind = ({ resource }: WorkKind<Job>, item: unknown): boolean =>
  isJsonObject(item) && typeof item['apiVersion'] === 'string' && typeof item['kind'] === 'string' && item['kind'] !== resource.kind;

function itemsOf(file: string, text: string): { readonly where: string; readonly item: unknown }[] {
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
  if (found.length === 0) throw new CommandError(`${file}: there is no Job in it; write a batch/v1 Job`);
  return found;
}

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
