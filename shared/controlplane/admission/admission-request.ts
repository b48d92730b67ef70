import { forbidden, type StatusError } from '../apimachinery/status-error.ts';
import type { UserInfo } from '../auth/user-info.ts';
import type { AnyObject } from '../apimachinery/object.ts';

/**
 * One write on its way through admission (admission.Attributes of apiserver). Objects are as they would be
 * encoded: defaulted, with kind and apiVersion.
 */
export type AdmissionRequest = {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  /** `status`, `binding`, ...; '' for the resource itself. */
  readonly subresource: string;
  /** '' while the name is still to be generated. */
  readonly name: string;
  /** '' for cluster-scoped resources. For a Namespace itself: its own name. */
  readonly namespace: string;
  /** Undefined for DELETE. */
  readonly object: AnyObject | undefined;
  /** Undefined for CREATE. */
  readonly oldObject: AnyObject | undefined;
  /** CreateOptions, UpdateOptions or DeleteOptions, with kind and apiVersion. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly dryRun: boolean;
  readonly user: UserInfo;
  /** Where all mutating plugins may be asked twice. */
  readonly reinvocation?: Reinvocation;
  /** Adds a Warning header to the answer, whatever it will be. */
  warn(text: string): void;
};

/** Two rounds of the mutating plugins: the second takes place when a webhook has changed the object in the first. */
export type Reinvocation = {
  isReinvoke: boolean;
  shouldReinvoke: boolean;
  /** What webhooks remember of the first round. */
  webhooks?: unknown;
};

export type GroupVersionKind = { readonly group: string; readonly version: string; readonly kind: string };
export type GroupVersionResource = { readonly group: string; readonly version: string; readonly resource: string };

/**
 * The 403 of a plugin (admission.NewForbidden): it names the object, by what its name will begin with while there is none yet.
 * `causes` distinguishes refusals of one reason.
 */
export function refusal({ resource, name, object }: AdmissionRequest, why: string, causes?: Parameters<typeof forbidden>[3]): StatusError {
  const { name: own = '', generateName = '' } = object?.metadata ?? {};
  return forbidden(resource, name || own || generateName || 'Unknown', why, causes);
}

/** What stands between the decoding of a write and its storing. */
export interface Admission {
  /**
   * The object after all mutating plugins. Undefined when none applies: the caller keeps its object and stays
   * synchronous. Rejects with a StatusError.
   */
  mutate(request: AdmissionRequest): Promise<AnyObject | undefined> | undefined;
  /** After the object is complete and valid. Undefined when nothing has an opinion. Rejects with a StatusError. */
  validate(request: AdmissionRequest): Promise<void> | undefined;
}
