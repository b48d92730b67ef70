/** A few Jobs as they are stored, made into many that a manager cannot tell from Jobs of its own. */
import { randomUUID } from 'node:crypto';
import { sealRecord, type RecordKeys } from '../../../manager/api/record-seal.ts';
import { parseAdmissionRecord } from '../../../manager/api/records.ts';
import { ADMISSION_ANNOTATION } from '../../../shared/api/names.ts';
import type { Job } from '../../../shared/api/kubernetes.ts';
import { openSqlitePersistence, type PersistedObject } from '../../../shared/controlplane/storage/persistence.ts';

const JOBS_TABLE = 'batch/jobs';
/** Written in one transaction. */
const BATCH = 1_000;

/** Where a Job is stored, and whose it is: the same name is one Job at home and its copy on a worker cluster. */
export type StoredJobs = { readonly dataDirectory: string; readonly jobs: ReadonlyMap<string, PersistedObject> };

export function readStoredJobs(dataDirectory: string): StoredJobs {
  const persistence = openSqlitePersistence(dataDirectory);
  const { objects } = persistence.load();
  persistence.close();
  return { dataDirectory, jobs: new Map(objects.filter(({ table }) => table === JOBS_TABLE).map((job) => [job.name, job])) };
}

/** A Job that is to be like another one, under another name and UID; `copy` is the UID of its copy, where it has one. */
export type Twin = { readonly of: string; readonly name: string; readonly uid: string; readonly copyUid: string };

export const twinOf = (of: string, name: string): Twin => ({ of, name, uid: randomUUID(), copyUid: randomUUID() });

/** Writes what this cluster has of the twins. Their originals at home tell under which UIDs they are known everywhere. */
export async function storeTwins(where: StoredJobs, home: StoredJobs, twins: readonly Twin[], keys: RecordKeys): Promise<number> {
  const persistence = openSqlitePersistence(where.dataDirectory);
  let { revision } = persistence.load();
  let stored = 0;
  for (const twin of twins) {
    const original = where.jobs.get(twin.of);
    const atHome = home.jobs.get(twin.of);
    if (original === undefined || atHome === undefined) continue;
    revision++;
    const text = twinText(original.text, uidOf(atHome), twin, revision, keys);
    persistence.append({ ...original, name: twin.name, revision, text }, () => stored++);
    if (revision % BATCH === 0) await persistence.settled();
  }
  await persistence.settled();
  persistence.close();
  return stored;
}

function twinText(original: string, homeUid: string, twin: Twin, revision: number, keys: RecordKeys): string {
  const ownUid = (JSON.parse(original) as Job).metadata.uid;
  const text = original.replaceAll(twin.of, twin.name).replaceAll(homeUid, twin.uid).replaceAll(ownUid, twin.copyUid);
  const job = JSON.parse(text) as Job;
  const record = job.metadata.annotations?.[ADMISSION_ANNOTATION];
  const annotations =
    record === undefined ? {} : { annotations: { ...job.metadata.annotations, [ADMISSION_ANNOTATION]: sealed(job, record, keys) } };
  return JSON.stringify({ ...job, metadata: { ...job.metadata, ...annotations, resourceVersion: String(revision) } });
}

function sealed({ metadata }: Job, text: string, keys: RecordKeys): string {
  const written = parseAdmissionRecord(text);
  if (written.kind === 'Invalid') throw new Error(`the record of ${metadata.name}: ${written.problem}`);
  return sealRecord(keys, metadata, written.record, written.stamp.written);
}

const uidOf = ({ text }: PersistedObject): string => (JSON.parse(text) as Job).metadata.uid;
