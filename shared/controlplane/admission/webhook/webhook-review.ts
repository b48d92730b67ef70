import type { Status } from '../../../kube/api-error.ts';
import { StatusError } from '../../apimachinery/status-error.ts';
import type { AdmissionRequest } from '../admission-request.ts';
import { given } from '../../../runtime/given.ts';

/** What a webhook answered, after its review has been found well formed. */
export type WebhookVerdict = {
  readonly allowed: boolean;
  /** A JSON patch as text; only mutating webhooks have one. */
  readonly patch?: string;
  readonly status?: Partial<Status>;
  readonly warnings: readonly string[];
};

/**
 * The AdmissionReview that is sent, in Go's order of fields. `asked` is the request as the client made it, `request` the
 * same in the version that the webhook is registered for.
 */
export function writeReview(request: AdmissionRequest, asked: AdmissionRequest, uid: string, reviewVersion: string): object {
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

/** Reads an AdmissionReview that came back. Throws an Error with upstream's words when it is not acceptable. */
export function readReview(body: string, uid: string, mutating: boolean): WebhookVerdict {
  const review = asRecord(JSON.parse(body));
  const response = review === undefined ? undefined : asRecord(review['response']);
  if (review === undefined || response === undefined) throw new Error('webhook response was absent');
  const apiVersion = typeof review['apiVersion'] === 'string' && review['apiVersion'] !== '' ? review['apiVersion'] : 'admission.k8s.io/v1';
  if (apiVersion !== 'admission.k8s.io/v1beta1') checkV1(review, response, uid, mutating);
  const patch = typeof response['patch'] === 'string' && response['patch'] !== '' ? response['patch'] : undefined;
  const status = asRecord(response['status']);
  const warnings = Array.isArray(response['warnings']) ? response['warnings'].filter((each) => typeof each === 'string') : [];
  return {
    allowed: response['allowed'] === true,
    warnings,
    ...(patch === undefined ? {} : { patch: Buffer.from(patch, 'base64').toString() }),
    ...given({ status }),
  };
}

function checkV1(review: Record<string, unknown>, response: Record<string, unknown>, uid: string, mutating: boolean): void {
  const got = response['uid'] ?? '';
  if (got !== uid) throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(got)}`);
  if (review['apiVersion'] !== 'admission.k8s.io/v1' || review['kind'] !== 'AdmissionReview') {
    throw new Error(
      `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${text(review['apiVersion'])}, Kind=${text(review['kind'])}`,
    );
  }
  const hasPatch = typeof response['patch'] === 'string' && response['patch'] !== '';
  const patchType = response['patchType'] ?? undefined;
  if (!mutating) {
    if (hasPatch) throw new Error('validating webhook may not return response.patch');
    if (patchType !== undefined) throw new Error('validating webhook may not return response.patchType');
    return;
  }
  if (hasPatch && patchType === undefined) throw new Error('webhook returned response.patch but not response.patchType');
  if (!hasPatch && patchType !== undefined) throw new Error('webhook returned response.patchType but not response.patch');
  if (patchType !== undefined && patchType !== 'JSONPatch') {
    throw new Error(`webhook returned invalid response.patchType of ${JSON.stringify(patchType)}`);
  }
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
