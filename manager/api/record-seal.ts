import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { formatAdmissionRecord, type AdmissionRecord, type RecordStamp } from './records.ts';

/** A key of the manager, of at least 32 bytes. Node is five times as fast with a KeyObject. */
export type RecordKey = KeyObject | Uint8Array;

/** Keys of the manager. */
export type RecordKeys = {
  /** The key that seals. */
  readonly current: RecordKey;
  /** Keys that only verify: of earlier seals, or of a manager that already has another key. */
  readonly others: readonly RecordKey[];
};

/** The Job of a record. A record copied to another Job has an invalid seal. */
export type SealedJob = { readonly namespace: string; readonly name: string; readonly uid: string };

/** The text of the annotation: the record, its time of writing, and the seal. */
export function sealRecord(keys: RecordKeys, job: SealedJob, record: AdmissionRecord, written: string): string {
  return formatAdmissionRecord(record, { written, seal: digest(keys.current, job, record, written).toString('base64url') });
}

/** Whether one of the keys has sealed this record for this Job. */
export function isSealed(keys: RecordKeys, job: SealedJob, record: AdmissionRecord, { written, seal }: RecordStamp): boolean {
  const given = Buffer.from(seal, 'base64url');
  return [keys.current, ...keys.others].some((key) => {
    const wanted = digest(key, job, record, written);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
}

/** The JSON list keeps its texts apart. Past admissions, by which nothing is decided, are not sealed. */
function digest(key: RecordKey, { namespace, name, uid }: SealedJob, record: AdmissionRecord, written: string): Buffer {
  const { pastAdmissions: _past, ...decided } = record;
  return createHmac('sha256', key)
    .update(JSON.stringify(['switchyard.dev/admission', namespace, name, uid, formatAdmissionRecord(decided, { written })]))
    .digest();
}
