import { createHmac, timingSafeEqual } from 'node:crypto';
import { formatAdmissionRecord, type AdmissionRecord, type RecordStamp } from './records.ts';

/** Keys of the manager, 32 bytes or more each. */
export type RecordKeys = {
  /** Seals. */
  readonly current: Uint8Array;
  /** Checks what was sealed before, or is sealed by a manager that has another key already. */
  readonly others: readonly Uint8Array[];
};

/** The Job that a record is made for. A record copied to another Job has the wrong seal. */
export type SealedJob = { readonly namespace: string; readonly name: string; readonly uid: string };

/** The annotation's text: the record, when it was written, and the seal. */
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

/** Texts in a JSON list cannot run into one another. */
const digest = (key: Uint8Array, { namespace, name, uid }: SealedJob, record: AdmissionRecord, written: string): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify(['switchyard.dev/admission', namespace, name, uid, formatAdmissionRecord(record, { written })]))
    .digest();
