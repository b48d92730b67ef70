import type { Answer } from './answer.ts';
import type { UserInfo } from '../auth/user-info.ts';
import { type ApiRequest, headerOf, type RequestInfo } from './request.ts';

/** One request on its way through the server: who asks for what, and the warnings collected so far. */
export type Call = {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  readonly user: UserInfo;
  readonly warnings: string[];
  warn(text: string): void;
};

export function createCall(request: ApiRequest, info: RequestInfo, user: UserInfo): Call {
  const warnings: string[] = [];
  return { request, info, user, warnings, warn: (text) => warnings.push(text) };
}

export type Handler = (call: Call) => Promise<Answer> | Answer;

const FIELD_MANAGER_MAX_BYTES = 128;

/** Who owns the fields of this write: the option, else what is printable of the program's name in User-Agent. */
export function fieldManagerOf({ request }: Call, option: string): string {
  if (option !== '') return option;
  const program = headerOf(request, 'user-agent').split('/')[0] ?? '';
  let manager = '';
  for (const character of program.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '')) {
    if (Buffer.byteLength(manager + character) > FIELD_MANAGER_MAX_BYTES) break;
    manager += character;
  }
  return manager === '' ? 'unknown' : manager;
}
