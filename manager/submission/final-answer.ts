import { ApiError, hasStatusCause } from '../../shared/kube/api-error.ts';
import type { RefusalCode } from './submission-queue.ts';

/** The server has looked at the object and said no. It would say so again: waiting does not help, a changed manifest may. */
export const isFinal = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  error.code >= 400 &&
  error.code < 500 &&
  !OF_THE_MOMENT.includes(error.code) &&
  !isTerminating(error) &&
  !isOverQuota(error);

/** 403 is said of users and by policies: of who may do this, and not of how it is written. */
export const codeOf = ({ code }: ApiError): RefusalCode => (code === 403 ? 'Forbidden' : 'Invalid');

/** Our credentials, time, or the number of requests were the trouble, and not the object. */
const OF_THE_MOMENT = [401, 408, 429];

/** The namespace of an object that is created while the namespace goes comes back or does not; only then is it final. */
const isTerminating = (error: ApiError): boolean => hasStatusCause(error, 'NamespaceTerminating');

/**
 * A ResourceQuota has no room now, or has not been counted yet. The API server says so in words only (plugin ResourceQuota). What it calls
 * a failed quota is a manifest that lacks a field, and stays final.
 */
const isOverQuota = (error: ApiError): boolean =>
  error.code === 403 && /is forbidden: (exceeded quota|status unknown for quota|insufficient quota): /.test(error.message);
