import { type HandlerDeps, updateObject } from '../endpoints/resource-handlers.ts';
import type { ServedResource } from '../resources/served-resources.ts';
import type { Subresource } from '../endpoints/subresource.ts';

/** `PUT namespaces/x/finalize`: writes spec.finalizers, and metadata; the last finalizer gone ends a terminating Namespace. */
export const namespaceFinalizeSubresource = (deps: HandlerDeps, namespaces: ServedResource): Subresource => ({
  group: '',
  version: 'v1',
  resource: 'namespaces',
  subresource: 'finalize',
  methods: { PUT: (call) => updateObject(deps, call, namespaces) },
});
