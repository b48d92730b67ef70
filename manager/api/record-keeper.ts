import type { DeepReadonly, WorkObject } from '../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION } from '../../shared/api/names.ts';
import { isOlder } from '../../shared/kube/resource-version.ts';
import { isSealed, sealRecord, type RecordKeys, type SealedJob } from './record-seal.ts';
import { parseAdmissionRecord, type AdmissionRecord, type ParsedRecord, type RecordReader, type Suspendable } from './records.ts';

/** Verifies which records admission has made, and remembers the newest of each Job. */
export interface RecordKeeper {
  /** Call it also with the API server's answer to the write of a record, so that the record is remembered at once. */
  readonly read: RecordReader;
  /** The text of the annotation. Of two records of one Job, the later one has the later time of writing. */
  seal(job: SealedJob, record: AdmissionRecord, nowMs: number): string;
  /** Forgets the Job of this UID, which is gone. */
  forget(uid: string): void;
}

/** The newest valid record of a Job, its text, and the resourceVersion of the Job that first showed it. */
type Remembered = {
  readonly record: AdmissionRecord;
  readonly text: string;
  readonly writtenMs: number;
  readonly resourceVersion: string;
};

export function createRecordKeeper(keys: RecordKeys, kind: Suspendable): RecordKeeper {
  const answers = new WeakMap<object, ParsedRecord>();
  const newest = new Map<string, Remembered>();

  const judge = (job: DeepReadonly<WorkObject>): ParsedRecord => {
    const { uid, resourceVersion } = job.metadata;
    const text = job.metadata.annotations?.[ADMISSION_ANNOTATION];
    const known = newest.get(uid);
    const last = known === undefined ? {} : { last: known.record };
    if (text === undefined) return known === undefined ? NONE : { kind: 'None', ...last };
    // Nearly all versions of a Job have the newest record, whose seal is already verified.
    if (known?.text === text) return ofReleased(kind.isSuspended(job), known.record);
    const written = parseAdmissionRecord(text);
    if (written.kind === 'Invalid') return { ...written, ...last };
    const { record, stamp } = written;
    if (!isSealed(keys, job.metadata, record, stamp)) return { kind: 'Forged', problem: NOT_SEALED, ...last };
    const writtenMs = Date.parse(stamp.written);
    if (known === undefined || writtenMs > known.writtenMs) newest.set(uid, { record, text, writtenMs, resourceVersion });
    // A stale cache shows an older record in an older version of the Job. A record that was put back is in a newer version.
    else if (writtenMs < known.writtenMs && isOlder(known.resourceVersion, resourceVersion))
      return { kind: 'Forged', problem: PUT_BACK, ...last };
    return ofReleased(kind.isSuspended(job), record);
  };

  return {
    read: (job) => {
      const known = answers.get(job);
      if (known !== undefined) return known;
      const answer = judge(job);
      answers.set(job, answer);
      return answer;
    },
    seal: (job, record, nowMs) => {
      const writtenMs = Math.max(nowMs, (newest.get(job.uid)?.writtenMs ?? 0) + 1);
      return sealRecord(keys, job, record, new Date(writtenMs).toISOString());
    },
    forget: (uid) => void newest.delete(uid),
  };
}

/** A record of a suspended Job lets no pod run. */
const ofReleased = (isSuspended: boolean, record: AdmissionRecord): ParsedRecord =>
  record.evicted === true && !isSuspended ? { kind: 'Forged', problem: RELEASED, last: record } : { kind: 'Record', record };

const NONE: ParsedRecord = { kind: 'None' };
const NOT_SEALED = `annotation ${ADMISSION_ANNOTATION} was not written by this manager for this Job`;
const RELEASED = 'spec.suspend was set to false, which is for the manager to do when the Job is admitted';
const PUT_BACK = `annotation ${ADMISSION_ANNOTATION} is an earlier one, put back`;
