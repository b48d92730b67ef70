import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { toWireTime } from '../../shared/api/wire-time.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import { QuantityError } from '../../shared/kube/quantity.ts';
import { parseAmount, ZERO } from '../api/amount.ts';
import { formatProblems } from '../api/field-problem.ts';
import { weightOf } from '../api/fair-weight.ts';
import { isJsonObject } from '../api/json-value.ts';
import type { ObjectEdit } from '../insight/questions/simulation-queries.ts';
import type { Edit } from '../insight/world/edited-object.ts';
import { prepareJob, readJobManifest } from '../policy/prepare-job.ts';
import { parseQualifiedName, qualifiedName } from '../work-kind/qualified-name.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';
import type { OverviewSources } from './overview.ts';
import { seesIt, type Rights } from './rights.ts';
import { leadsThere } from './shared-figures.ts';

/** Changes to try: edits of objects, and manifests of Jobs that are submitted, each so many times. */
export type WhatIfRequest = {
  readonly edits: readonly ObjectEdit[];
  readonly submitted: readonly { readonly manifest: object; readonly copies: number }[];
  /** Of manifests that name none. */
  readonly namespace: string;
};

const CHANGES_MAX = 64;
/** Jobs that one question submits. */
const COPIES_MAX = 1_000;
const TEXT_MAX = 253;

const OBJECTS: readonly ObjectEdit['object'][] = ['ClusterQueue', 'Cohort', 'LocalQueue', 'WorkerCluster', 'Job'];
/** The kinds whose objects have a namespace. */
const NAMESPACED: readonly ObjectEdit['object'][] = ['LocalQueue', 'Job'];
const STATES = ['Active', 'Cordoned', 'Draining'] as const;

/** The question of a request body; `problem` where the body is malformed. */
export function parseWhatIfRequest(body: unknown): WhatIfRequest | { readonly problem: string } {
  if (!isJsonObject(body) || !Array.isArray(body['changes'])) return { problem: 'changes: write a list of changes' };
  const changes = body['changes'] as readonly unknown[];
  if (changes.length === 0 || changes.length > CHANGES_MAX) return { problem: `changes: write 1 to ${CHANGES_MAX} of them` };
  const edits: ObjectEdit[] = [];
  const submitted: { readonly manifest: object; readonly copies: number }[] = [];
  for (const [at, change] of changes.entries()) {
    const parsed = isJsonObject(change) ? parseChange(change) : undefined;
    if (parsed === undefined)
      return {
        problem: `changes[${at}]: write {manifest, copies} of a Job, or {object, name, edit} with an object of ${OBJECTS.join(', ')} and a field that it has`,
      };
    if ('manifest' in parsed) submitted.push(parsed);
    else edits.push(parsed);
  }
  const copies = submitted.reduce((sum, each) => sum + each.copies, 0);
  if (copies > COPIES_MAX) return { problem: `changes: ${copies} Jobs are submitted; ask about ${COPIES_MAX} at most` };
  return { edits, submitted, namespace: textOf(body['namespace']) ?? 'default' };
}

type Fields = Readonly<Record<string, unknown>>;

function parseChange(change: Fields): ObjectEdit | { readonly manifest: object; readonly copies: number } | undefined {
  const { manifest, copies = 1 } = change;
  if (isJsonObject(manifest)) return Number.isInteger(copies) && Number(copies) >= 1 ? { manifest, copies: Number(copies) } : undefined;
  const object = OBJECTS.find((each) => each === change['object']);
  const [name, namespace] = [textOf(change['name']), textOf(change['namespace'])];
  const edit = isJsonObject(change['edit']) ? parseEdit(change['edit']) : undefined;
  if (object === undefined || name === undefined || edit === undefined || !FIELDS[object].includes(edit.field)) return undefined;
  if (NAMESPACED.includes(object) !== (namespace !== undefined)) return undefined;
  return { object, name, edit, ...(namespace === undefined ? {} : { namespace }) };
}

/** The fields that can be edited, by kind. */
const FIELDS: Readonly<Record<ObjectEdit['object'], readonly Edit['field'][]>> = {
  ClusterQueue: ['quota', 'weight', 'cohortName', 'stopPolicy'],
  Cohort: ['quota', 'weight'],
  LocalQueue: ['stopPolicy'],
  WorkerCluster: ['capacity', 'state', 'lost'],
  Job: ['priority'],
};

function parseEdit(edit: Fields): Edit | undefined {
  const text = (field: string): string => textOf(edit[field]) ?? '';
  switch (edit['field']) {
    case 'quota': {
      const [flavor, resource, amount] = [text('flavor'), text('resource'), text('amount')];
      return flavor !== '' && isAmount(resource, amount) ? { field: 'quota', flavor, resource, amount } : undefined;
    }
    case 'capacity': {
      const [resource, amount] = [text('resource'), text('amount')];
      return isAmount(resource, amount) ? { field: 'capacity', resource, amount } : undefined;
    }
    case 'weight':
      return isRead(() => weightOf({ weight: text('weight') }) >= 0) ? { field: 'weight', weight: text('weight') } : undefined;
    case 'cohortName':
      return typeof edit['cohort'] === 'string' ? { field: 'cohortName', cohort: text('cohort') } : undefined;
    case 'stopPolicy':
      return ['None', 'Hold', 'HoldAndDrain'].includes(text('policy')) ? { field: 'stopPolicy', policy: text('policy') } : undefined;
    case 'state': {
      const state = STATES.find((each) => each === edit['state']);
      return state && { field: 'state', state };
    }
    case 'lost':
      return { field: 'lost' };
    case 'priority':
      return /^-?\d{1,10}$/.test(text('priority')) ? { field: 'priority', priority: text('priority') } : undefined;
    default:
      return undefined;
  }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= TEXT_MAX ? value : undefined;

/** `+8` and `-8` are relative to the present amount. */
const isAmount = (resource: string, text: string): boolean =>
  resource !== '' && /^[+-]?\d/.test(text) && isRead(() => parseAmount(resource, text.replace(/^[+-]/, '')) >= ZERO);

function isRead(read: () => boolean): boolean {
  try {
    return read();
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
}

type Sources = Pick<OverviewSources, 'clusterQueues' | 'cohorts' | 'localQueues' | 'workerClusters'> & { readonly jobs: Lister<Job> };

/** Whether the object of the edit exists, and the viewer may know that. */
export function mayEdit(sources: Sources, { object, namespace = '', name }: ObjectEdit, rights: Rights): boolean {
  const seesJobs = rights.namespaces === 'All' || rights.namespaces.size > 0;
  switch (object) {
    case 'ClusterQueue':
      return (
        sources.clusterQueues.get({ namespace: '', name }) !== undefined &&
        (seesIt(rights.queues, name) || leadsThere(sources, name, rights))
      );
    case 'Cohort':
      return rights.queues === 'All' && sources.cohorts.get({ namespace: '', name }) !== undefined;
    case 'WorkerCluster':
      return sources.workerClusters.get({ namespace: '', name }) !== undefined && (seesJobs || seesIt(rights.clusters, name));
    case 'LocalQueue':
      return seesIt(rights.namespaces, namespace) && sources.localQueues.get({ namespace, name }) !== undefined;
    case 'Job':
      return seesIt(rights.namespaces, namespace) && sources.jobs.get({ namespace, name }) !== undefined;
  }
}

/** The submitted Jobs as they would be stored, under names that are free. */
export function jobsOf(
  kind: WorkKind<Job>,
  { submitted, namespace: fallback }: WhatIfRequest,
  maySee: (namespace: string) => boolean,
  present: Pick<Lister<Job>, 'get'>,
  nowMs: number,
): { readonly jobs: readonly DeepReadonly<Job>[] } | { readonly problem: string } {
  const jobs: DeepReadonly<Job>[] = [];
  const taken = new Set<string>();
  for (const { manifest, copies } of submitted) {
    const read = readJobManifest(kind, manifest);
    if (read.kind === 'Refused') return { problem: formatProblems(read.problems) };
    const prepared = prepareJob(kind, read.manifest);
    if (prepared.kind === 'Refused') return { problem: formatProblems(prepared.problems) };
    const { name, generateName, namespace = fallback, ...metadata } = prepared.job.metadata;
    if (!maySee(namespace)) return { problem: `metadata.namespace: you may not list Jobs in namespace ${namespace}` };
    const said = parseQualifiedName(name ?? '').name;
    const base = qualifiedName(read.qualifier, said === '' ? `${generateName ?? 'job-'}what-if` : said);
    for (let left = copies, n = 1; left > 0; n++) {
      const own = copies === 1 && n === 1 ? base : `${base}-${n}`;
      const key = `${namespace}/${own}`;
      if (taken.has(key) || present.get({ namespace, name: own }) !== undefined) continue;
      taken.add(key);
      left--;
      const uid = `what-if-${taken.size}`;
      jobs.push({
        ...prepared.job,
        metadata: { ...metadata, namespace, name: own, uid, resourceVersion: '0', creationTimestamp: toWireTime(nowMs) },
      } as DeepReadonly<Job>);
    }
  }
  return { jobs };
}
