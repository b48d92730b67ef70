import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { ACTS_ANNOTATION } from '../../shared/api/names.ts';
import { toWireTime } from '../../shared/api/wire-time.ts';
import { isJsonObject, parseJson } from './json-value.ts';
import { sanitizeText } from './sanitize-text.ts';

/** An act on a Job: the manager carried it out for a user, or (Override) a user bypassed the policies of Jobs. */
export type JobAct = {
  readonly what: 'Cancel' | 'Hold' | 'Release' | 'Override';
  readonly user: string;
  /** RFC 3339. */
  readonly at: string;
};

/** The annotations of a Job, stored or still to be stored. */
type Acted = { readonly metadata: DeepReadonly<Pick<Job['metadata'], 'annotations'>> };

/** The latest acts that are kept; an annotation has to stay small. */
const ACTS_MAX = 8;
const NAME_LENGTH_MAX = 256;
const WORDS = ['Cancel', 'Hold', 'Release', 'Override'] as const;

/**
 * The latest acts on a Job, the oldest first. Trustworthy as far as the policies of Jobs go, which let only the manager write them, and
 * users who bypass the policies.
 */
export function actsOn({ metadata }: Acted): readonly JobAct[] {
  const written = parseJson(metadata.annotations?.[ACTS_ANNOTATION] ?? '');
  if (!Array.isArray(written)) return [];
  return written.slice(-ACTS_MAX).flatMap((act: unknown) => {
    if (!isJsonObject(act)) return [];
    const { user, at } = act;
    const what = WORDS.find((word) => word === act['what']);
    if (what === undefined || typeof user !== 'string' || typeof at !== 'string') return [];
    return [{ what, user: sanitizeText(user, NAME_LENGTH_MAX), at: sanitizeText(at, 32) }];
  });
}

/** The annotation with one act added. */
export const withAct = (job: Acted, { what, user }: Omit<JobAct, 'at'>, nowMs: number): string =>
  JSON.stringify([...actsOn(job), { what, user: sanitizeText(user, NAME_LENGTH_MAX), at: toWireTime(nowMs) }].slice(-ACTS_MAX));

const DONE = { Cancel: 'cancelled', Hold: 'held', Release: 'released', Override: 'overridden' } as const;
/** The act as a sentence without its subject: `held by ann at 2026-01-01T00:00:00Z`. */
export const actInWords = ({ what, user, at }: JobAct): string => `${DONE[what]} by ${user} at ${at}`;
