import type { Status } from '../../../kube/api-error.ts';
import { StatusError } from '../../apimachinery/status-error.ts';
import type { AdmissionRequest } from '../admission-request.ts';
import { omitUndefined } from '../../../runtime/omit-undefined.ts';

/** What a webhook answered, after its review has been found well formed. */
export type WebhookVerdict = {
  readonly allowed: boolean;
  /** Only mutating webhooks have one. */
  readonly patch?: { readonly type: string; readonly text: string };
  readonly status?: Partial<Status>;
  readonly warnings: readonly string[];
};

/** The versions of AdmissionReview that are sent. */
export type ReviewVersion = 'v1' | 'v1beta1';
/** An answer that is no AdmissionReview at all: as good as none. */
export class UnreadableReview extends Error {}

/**
 * The AdmissionReview that is sent, in Go's order of fields. `asked` is the request as the client made it, `request` the
 * same in the version that the webhook is registered for.
 */
export function writeReview(request: AdmissionRequest, asked: AdmissionRequest, uid: string, reviewVersion: ReviewVersion): object {
  const { kind, resource, subresource, name, namespace, user } = request;
  return {
    kind: 'AdmissionReview',
    apiVersion: `admission.k8s.io/${reviewVersion}`,
    request: {
      uid,
      kind,
      resource,
      ...(subresource === '' ? {} : { subResource: subresource }),
      requestKind: asked.kind,
      requestResource: asked.resource,
      ...(subresource === '' ? {} : { requestSubResource: subresource }),
      ...(name === '' ? {} : { name }),
      ...(namespace === '' ? {} : { namespace }),
      operation: request.operation,
      userInfo: {
        username: user.name,
        ...(user.uid === undefined || user.uid === '' ? {} : { uid: user.uid }),
        ...(user.groups.length === 0 ? {} : { groups: user.groups }),
        ...(user.extra === undefined || Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
      },
      object: request.object ?? null,
      oldObject: request.oldObject ?? null,
      dryRun: request.dryRun,
      options: request.options,
    },
  };
}

/**
 * Reads the answer to an AdmissionReview of `version`. Throws UnreadableReview for what does not decode, and an Error with upstream's
 * words for a review that is not acceptable.
 */
export function readReview(body: string, uid: string, mutating: boolean, version: ReviewVersion): WebhookVerdict {
  const review = decodeReview(body, version);
  const response = review === undefined ? undefined : asRecord(review['response']);
  if (review === undefined || response === undefined) throw new Error('webhook response was absent');
  if (version === 'v1') checkV1(review, response, uid, mutating);
  const patch = response['patch'] ? Buffer.from(text(response['patch']), 'base64').toString() : undefined;
  const patchType = version === 'v1' ? text(response['patchType']) : 'JSONPatch';
  const status = asRecord(response['status']);
  return {
    allowed: response['allowed'] === true,
    warnings: Array.isArray(response['warnings']) ? response['warnings'].map(String) : [],
    ...(patch === undefined || !mutating ? {} : { patch: { type: patchType, text: patch } }),
    ...omitUndefined({ status }),
  };
}

const TYPES: Readonly<Record<string, string>> = {
  uid: 'string',
  allowed: 'boolean',
  patch: 'string',
  patchType: 'string',
  status: 'object',
};
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The review as it came; undefined when it is one of the other version, for then nothing is read of it. */
function decodeReview(body: string, version: ReviewVersion): Record<string, unknown> | undefined {
  let review: Record<string, unknown> | undefined;
  try {
    review = asRecord(JSON.parse(body));
  } catch (error) {
    throw new UnreadableReview(error instanceof Error ? error.message : String(error));
  }
  if (review === undefined) throw new UnreadableReview("couldn't get version/kind; json parse error: json: cannot unmarshal the answer");
  const apiVersion = text(review['apiVersion']) || `admission.k8s.io/${version}`;
  const kind = text(review['kind']) || 'AdmissionReview';
  if (kind === 'Status' && apiVersion === 'v1') {
    if (review['status'] === 'Success') return undefined;
    throw new UnreadableReview(text(review['message']) || 'unknown');
  }
  if (kind !== 'AdmissionReview' || !['admission.k8s.io/v1', 'admission.k8s.io/v1beta1'].includes(apiVersion)) {
    throw new UnreadableReview(`no kind "${kind}" is registered for version "${apiVersion}"`);
  }
  checkTypes(asRecord(review['response']) ?? {});
  return apiVersion === `admission.k8s.io/${version}` ? review : undefined;
}

function checkTypes(response: Record<string, unknown>): void {
  for (const [field, type] of Object.entries(TYPES)) {
    const value = response[field] ?? undefined;
    if (value === undefined || typeof value === type) continue;
    throw new UnreadableReview(`json: cannot unmarshal ${typeof value} into Go struct field AdmissionResponse.response.${field}`);
  }
  if (!BASE64.test(text(response['patch']))) throw new UnreadableReview('illegal base64 data');
}

function checkV1(review: Record<string, unknown>, response: Record<string, unknown>, uid: string, mutating: boolean): void {
  const got = response['uid'] ?? '';
  if (got !== uid) throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(got)}`);
  if (review['apiVersion'] !== 'admission.k8s.io/v1' || review['kind'] !== 'AdmissionReview') {
    // A group version kind without group prints its slash all the same.
    const version = text(review['apiVersion']);
    const shown = version.includes('/') ? version : `/${version}`;
    throw new Error(`expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${shown}, Kind=${text(review['kind'])}`);
  }
  const hasPatch = text(response['patch']) !== '';
  const patchType = response['patchType'] ?? undefined;
  if (!mutating) {
    if (hasPatch) throw new Error('validating webhook may not return response.patch');
    if (patchType !== undefined) throw new Error('validating webhook may not return response.patchType');
    return;
  }
  if (hasPatch && patchType === undefined) throw new Error('webhook returned response.patch but not response.patchType');
  if (!hasPatch && patchType !== undefined) throw new Error('webhook returned response.patchType but not response.patch');
  if (patchType === '') throw new Error('webhook returned invalid response.patchType of ""');
}

/** The refusal that a denial becomes: never below 400, and always naming the webhook. */
export function denial(webhook: string, status: Partial<Status> = {}): StatusError {
  const denied = `admission webhook "${webhook}" denied the request`;
  const code = typeof status.code === 'number' && status.code >= 400 ? status.code : 400;
  const why = status.message || status.reason;
  return new StatusError(code, status.reason ?? '', why ? `${denied}: ${why}` : `${denied} without explanation`, status.details);
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const asRecord = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
