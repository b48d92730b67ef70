import type { HandlerDeps } from '../endpoints/resource-handlers.ts';
import { checkName, presentationOf, readBody, shown, writeRequest } from '../endpoints/resource-handlers.ts';
import { readWriteOptions } from '../registry/request-options.ts';
import type { ServedResource } from '../resources/served-resources.ts';
import type { Subresource } from '../endpoints/subresource.ts';

/** `PUT namespaces/x/finalize`: replaces spec.finalizers, and nothing else; the last one gone ends a terminating Namespace. */
export const namespaceFinalizeSubresource = (deps: HandlerDeps, namespaces: ServedResource): Subresource => ({
  group: '',
  version: 'v1',
  resource: 'namespaces',
  subresource: 'finalize',
  methods: {
    PUT: (call) => {
      const presentation = presentationOf(deps, call, namespaces);
      const options = readWriteOptions(call.info.query, 'UpdateOptions');
      const body = readBody(call, namespaces, options);
      checkName(call, body);
      const spec = body['spec'] ?? {};
      const { stored } = deps.registry.modify(
        writeRequest(call, namespaces, options, 'UpdateOptions'),
        { uid: body.metadata.uid ?? '' },
        ({ object }) => ({ ...object, metadata: { ...object.metadata }, spec }),
      );
      return shown(200, presentation, presentation.presenter.object(stored));
    },
  },
});
