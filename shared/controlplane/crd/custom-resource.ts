import type { ObjectSchema } from '../schema/schema.ts';
import type { ResourceDefinition } from '../resources/strategy.ts';
import { compareVersions } from '../discovery/api-groups.ts';
import { omitUndefined } from '../../runtime/omit-undefined.ts';
import type { Crd, CrdVersion } from './crd.ts';
import { customResourceStrategy } from './custom-resource-strategy.ts';
import { customSchema } from './custom-schema.ts';
import { versionView } from './version-view.ts';

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
      const warning = deprecationWarning(version, crd);
      const strategy = {
        ...customResourceStrategy(version, namespaced),
        ...omitUndefined({ warningOnUse: warning }),
        ...(version.subresources?.scale === undefined ? {} : { hasScale: true }),
        ...(crd.metadata.deletionTimestamp === undefined ? {} : { isTerminating: true }),
      };
      return {
        version,
        schema: customSchema(type, version.schema?.openAPIV3Schema ?? {}, version.subresources?.status !== undefined),
        definition: {
          ...type,
          plural,
          singular,
          listKind,
          shortNames,
          categories,
          namespaced,
          strategy,
          ...(versions.length > 1 ? { view: versionView(crd, version) } : {}),
        },
      };
    });
}

/** What clients of a deprecated version are told: its own words, or which newer version to use. */
function deprecationWarning(version: CrdVersion, { spec }: Crd): string | undefined {
  if (version.deprecated !== true) return undefined;
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const { group = '', versions = [] } = spec ?? {};
  const kind = spec?.names?.kind ?? '';
  const name = version.name ?? '';
  const newer = versions
    .filter((each) => each.served === true && each.deprecated !== true && compareVersions(each.name ?? '', name) < 0)
    .map((each) => each.name ?? '')
    .toSorted(compareVersions);
  const advice = newer[0] === undefined ? '' : `; use ${group}/${newer[0]} ${kind}`;
  return `${group}/${name} ${kind} is deprecated${advice}`;
}
