import { badRequest, type StatusError } from '../apimachinery/status-error.ts';

/** Where a list goes on: the snapshot it belongs to and the first key of the next page. */
export type ContinueToken = {
  /** -1: no snapshot, whatever is there now. */
  readonly revision: number;
  /** Storage key below the list's prefix; the next page begins at or after it. */
  readonly start: string;
};

const VERSION = 'meta.k8s.io/v1';

export const writeContinueToken = ({ revision, start }: ContinueToken): string =>
  Buffer.from(JSON.stringify({ v: VERSION, rv: revision, start })).toString('base64url');

/** Throws 400 with apiserver's words. */
export function readContinueToken(token: string): ContinueToken {
  const illegal = Array.from(token).findIndex((character) => !/[A-Za-z0-9_-]/.test(character));
  if (illegal >= 0) throw refusal(`illegal base64 data at input byte ${illegal}`);
  const bytes = Buffer.from(token, 'base64url');
  const { v, rv, start } = parse(bytes);
  if (v !== VERSION) throw refusal(`server does not recognize this encoded version ${typeof v === 'string' ? v : ''}`);
  if (typeof rv !== 'number' || rv === 0) throw refusal(`incorrect encoded start resourceVersion (version ${VERSION})`);
  if (typeof start !== 'string' || start === '') throw refusal(`encoded start key must be provided (version ${VERSION})`);
  if (start.split('/').some((part) => part === '..' || part === '.')) throw refusal(start);
  return { revision: rv, start };
}

const refusal = (why: string): StatusError => badRequest(`invalid continue token: continue key is not valid: ${why}`);

const parse = (bytes: Buffer): { v?: unknown; rv?: unknown; start?: unknown } => {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    throw refusal(whatIsWrong(bytes));
  }
  throw refusal('json: cannot unmarshal into Go value of type storage.continueToken');
};

/** Go's complaint about bytes that are no JSON, as far as the first byte decides it. */
const whatIsWrong = (bytes: Buffer): string => {
  const first = bytes[0];
  const text = bytes.toString('latin1');
  const literal = ['null', 'true', 'false'].find((each) => each[0] === text[0]);
  const at = literal === undefined ? -1 : literal.split('').findIndex((letter, index) => index < text.length && text[index] !== letter);
  if (literal !== undefined && at > 0) {
    return `invalid character '${text[at]}' in literal ${literal} (expecting '${literal[at]}')`;
  }
  if (first === undefined || /[{["0-9tfn-]/.test(String.fromCharCode(first))) return 'unexpected end of JSON input';
  const shown = first >= 0x20 && first < 0x7f ? String.fromCharCode(first) : `\\u${first.toString(16).padStart(4, '0')}`;
  return `invalid character '${shown}' looking for beginning of value`;
};
