import { dns1123LabelProblems } from '../../shared/kube/name-formats.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { isJsonObject } from '../api/json-value.ts';
import { sanitizeText } from '../api/sanitize-text.ts';
import type { RefusedSubmission } from '../api/shared-submissions.ts';
import type { Submission, SubmissionRefused } from './submission-queue.ts';
import { manifestIn } from './tenant-manifest.ts';
import type { Tenant } from './tenant.ts';

const NAME_LENGTH_MAX = 128;
const MESSAGE_LENGTH_MAX = 512;

/** What is kept of a submission that was refused: of its manifest nothing but the name, and all of it cleaned and bounded. */
export function refusedSubmission(
  tenant: Tenant,
  { id, data }: Pick<Submission, 'id' | 'data'>,
  { code, message }: SubmissionRefused,
  uidOf: (namespace: string) => string | undefined,
  nowMs: number,
): RefusedSubmission {
  const manifest = manifestIn(data);
  const metadata = isJsonObject(manifest) ? manifest['metadata'] : undefined;
  const named = isJsonObject(metadata) ? metadata : {};
  const namespace = namespaceOf(tenant, manifest, named['namespace']);
  const name = [named['name'], named['generateName']].find((each) => typeof each === 'string' && each !== '');
  return {
    id: sanitizeText(id, NAME_LENGTH_MAX),
    atMs: nowMs,
    reason: code,
    message: sanitizeText(message.slice(`${code}: `.length), MESSAGE_LENGTH_MAX),
    ...omitUndefined({
      namespace,
      namespaceUid: namespace === undefined ? undefined : uidOf(namespace),
      name: typeof name === 'string' ? sanitizeText(name, NAME_LENGTH_MAX) : undefined,
    }),
  };
}

function namespaceOf(tenant: Tenant, manifest: unknown, namespace: unknown): string | undefined {
  if (namespace === undefined) return isJsonObject(manifest) ? tenant.namespace : undefined;
  return typeof namespace === 'string' && dns1123LabelProblems(namespace).length === 0 ? namespace : undefined;
}
