import type { AdmissionRequest } from '../../../../../../shared/controlplane/admission/admission-request.ts';
import { anObject } from '../../a-served-resource.ts';

/** Alice creates a ConfigMap. */
export const anAdmissionRequest = (parts: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
  operation: 'CREATE',
  kind: { group: '', version: 'v1', kind: 'ConfigMap' },
  resource: { group: '', version: 'v1', resource: 'configmaps' },
  subresource: '',
  name: 'a',
  namespace: 'ns',
  object: anObject('a', { data: { x: '1' } }),
  oldObject: undefined,
  options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
  dryRun: false,
  user: { name: 'alice', groups: ['devs'] },
  warn: () => undefined,
  ...parts,
});
