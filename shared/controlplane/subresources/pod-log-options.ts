import { forbidden, invalid, type FieldError } from '../apimachinery/field-error.ts';
import { badRequest, invalid as invalidObject } from '../apimachinery/status-error.ts';
import type { Query } from '../request/request.ts';
import { canonicalTime, TimeError } from '../schema/time-text.ts';

/** Query of `pods/x/log` (PodLogOptions). */
export type PodLogOptions = {
  /** '' when the request names none. */
  readonly container: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines: number | undefined;
  readonly sinceSeconds: number | undefined;
  /** A wire time. */
  readonly sinceTime: string | undefined;
  readonly limitBytes: number | undefined;
};

/** Reads and judges the options of a log, before any pod is looked at. Throws 400 for what cannot be read, 422 for what is not allowed. */
export function readPodLogOptions(query: Query, podName: string): PodLogOptions {
  const options: PodLogOptions = {
    container: query.get('container'),
    follow: query.flag('follow'),
    previous: query.flag('previous'),
    timestamps: query.flag('timestamps'),
    tailLines: readInt64(query, 'tailLines'),
    sinceSeconds: readInt64(query, 'sinceSeconds'),
    sinceTime: readTime(query, 'sinceTime'),
    limitBytes: readInt64(query, 'limitBytes'),
  };
  const errors = validatePodLogOptions(options, query.has('stream'));
  if (errors.length > 0) throw invalidObject({ group: '', kind: 'PodLogOptions' }, podName, errors);
  return options;
}

/** ValidatePodLogOptions; choosing a stream is a feature that is off. */
const validatePodLogOptions = (options: PodLogOptions, namesStream: boolean): FieldError[] => {
  const { tailLines = 0, limitBytes = 1, sinceSeconds } = options;
  const errors: FieldError[] = [];
  if (tailLines < 0) errors.push(invalid('tailLines', tailLines, 'must be greater than or equal to 0'));
  if (limitBytes < 1) errors.push(invalid('limitBytes', limitBytes, 'must be greater than 0'));
  if (sinceSeconds !== undefined && options.sinceTime !== undefined) {
    // Upstream reports it of the whole object, by a path without a name.
    errors.push(forbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) errors.push(invalid('sinceSeconds', sinceSeconds, 'must be greater than 0'));
  if (namesStream) errors.push(forbidden('stream', 'may not be specified'));
  return errors;
};

/** Unlike options of lists, these are pointers: given and empty is not the same as absent. */
function readInt64(query: Query, name: string): number | undefined {
  if (!query.has(name)) return undefined;
  const text = query.get(name);
  const parsing = `strconv.ParseInt: parsing ${JSON.stringify(text)}`;
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`${parsing}: invalid syntax`);
  const value = BigInt(text.replace('+', ''));
  if (BigInt.asIntN(64, value) !== value) throw badRequest(`${parsing}: value out of range`);
  return Number(value);
}

/** An empty time, like the word null, is the time zero. */
function readTime(query: Query, name: string): string | undefined {
  if (!query.has(name)) return undefined;
  const text = query.get(name);
  if (text === '' || text === 'null') return ZERO_TIME;
  try {
    return canonicalTime(text) ?? ZERO_TIME;
  } catch (error) {
    if (error instanceof TimeError) throw badRequest(error.message);
    throw error;
  }
}

const ZERO_TIME = '0001-01-01T00:00:00Z';
