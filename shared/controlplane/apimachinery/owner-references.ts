import type { AnyMeta } from './object.ts';
import { jsonEquals } from './json.ts';

/**
 * Takes owner references that stand there twice out of the metadata. Returns what the server warns of, '' when there was
 * nothing to do. `afterAdmission`: who sent the request is not to blame.
 */
export function dropDuplicateOwners(metadata: AnyMeta, afterAdmission: boolean): string {
  const references = metadata.ownerReferences ?? [];
  if (references.length < 2) return '';
  const kept: typeof references = [];
  const duplicates: string[] = [];
  for (const reference of references) {
    if (kept.some((each) => jsonEquals(each, reference))) duplicates.push(reference.uid ?? '');
    else kept.push(reference);
  }
  if (duplicates.length === 0) return '';
  metadata.ownerReferences = kept;
  return (
    `.metadata.ownerReferences contains duplicate entries${afterAdmission ? ' after mutating admission happens' : ''}; API server dedups owner ` +
    'references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ' +
    duplicates.join(', ')
  );
}
