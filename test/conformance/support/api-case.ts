import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** HTTP exchanges recorded from kube-apiserver v1.36, to be had again from any server that claims to be a Kubernetes API. */
export type ApiCase = {
  readonly name: string;
  readonly about: string;
  /** What must be there beside the API. */
  readonly needs?: readonly Need[];
  /** Admission webhooks that stand ready under `{hook}/NAME`, and what they answer. */
  readonly hooks?: Readonly<Record<string, HookPlan>>;
  readonly exchanges: readonly Exchange[];
};

/**
 * `compaction`: the server has forgotten revision 1. `role-aggregation`: ClusterRoles such as view have the rules of those that they
 * select.
 */
export type Need = 'namespace-controller' | 'garbage-collector' | 'compaction' | 'role-aggregation';

export type HookPlan = {
  readonly allowed?: boolean;
  readonly patch?: readonly unknown[];
  readonly status?: object;
  readonly warnings?: readonly string[];
  /** Answers with this status and no review. */
  readonly http?: number;
  /** Answers with this instead of a review. */
  readonly reply?: unknown;
  readonly delay?: number;
};

/** `{ns}`, `{id}`, `{hook}`, `{deadHook}`, `{caBundle}`, and references to saved answers, are replaced in all of them. */
export type Exchange = RequestExchange | WatchExchange | WatchEnd | Pause | HookCalls;

export type RequestExchange = Comparison & {
  readonly method: string;
  readonly path: string;
  /** A content type, or the short name of one; default `json`. */
  readonly type?: string;
  /** Null leaves a header out that would be sent. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: unknown;
  /** A body sent as it is. */
  readonly text?: string;
  /** The body is this saved answer, without its managedFields, changed by `set` and `unset`. */
  readonly from?: string;
  readonly set?: Readonly<Record<string, unknown>>;
  readonly unset?: readonly string[];
  readonly save?: string;
  /** Asked again until the answer has this status, or this value at this path. */
  readonly until?: { readonly status?: number; readonly at?: string; readonly is?: unknown };
};

/** Runs beside what follows, up to its `WatchEnd` or the end of the case. */
export type WatchExchange = Comparison & {
  readonly watch: string;
  /** Plain bookmarks are events like any other. */
  readonly bookmarks?: boolean;
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string | null>>;
  /** Default: one event. */
  readonly until?: { readonly events?: number; readonly ms?: number; readonly end?: true };
};

export type WatchEnd = Comparison & { readonly watchEnd: true | string };
export type Pause = Comparison & { readonly sleep: number };
/** The AdmissionReview requests that this hook has had so far. */
export type HookCalls = Comparison & { readonly hookCalls: string };

export type Comparison = {
  readonly note?: string;
  /** Of an answer below 400 (and of events and calls) only what is at these paths matters; none: only the status. */
  readonly only?: readonly string[];
  readonly ignore?: readonly string[];
  readonly unordered?: readonly string[];
  readonly managedFields?: boolean;
  readonly expect?: Answer;
};

/** What came back for one exchange. All absent for those that ask nothing. */
export type Answer = {
  readonly status?: number;
  readonly body?: unknown;
  /** A body that is no JSON. */
  readonly text?: string;
  /** In place of the body: what is at the paths of `only`. */
  readonly shown?: Readonly<Record<string, unknown>>;
  readonly warning?: string;
  readonly retryAfter?: string;
  /** Where it is not `application/json`. */
  readonly contentType?: string;
  readonly events?: readonly unknown[];
  /** Whether the server ended the watch. */
  readonly ended?: boolean;
  readonly calls?: readonly unknown[];
};

const FOLDER = path.join(import.meta.dirname, '..', 'api-cases');

export const loadApiCases = (): ApiCase[] =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => JSON.parse(readFileSync(path.join(FOLDER, name), 'utf8')) as ApiCase);
