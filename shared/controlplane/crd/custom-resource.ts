import type { ObjectSchema } from '../schema/schema.ts';
import type { ResourceDefinition } from '../strategy.ts';
import type { Crd, CrdVersion } from './crd.ts';
import { customResourceStrategy } from './custom-resource-strategy.ts';
import { customSchema } from './custom-schema.ts';

/** One version of a custom resource, ready to be served. */
export type CustomResource = { readonly definition: ResourceDefinition; readonly schema: ObjectSchema; readonly version: CrdVersion };

/** What an established CRD adds to the served resources: one resource for each served version. */
export function resourcesFromCrd(crd: Crd): CustomResource[] {
  const { group = '', scope, versions = [] } = crd.spec ?? {};
  const names = crd.status?.acceptedNames ?? {};
  const { plural = '', singular = '', kind = '', listKind = `${kind}List`, shortNames = [], categories = [] } = names;
  const namespaced = scope === 'Namespaced';
  return versions
    .filter(({ served }) => served === true)
    .map((version) => {
      const type = { group, version: version.name ?? '', kind };
      const strategy = customResourceStrategy(version, namespaced);
      return {
        version,
        schema: customSchema(type, version.schema?.openAPIV3Schema ?? {}),
        definition: { ...type, plural, singular, listKind, shortNames, categories, namespaced, strategy },
      };
    });
}
