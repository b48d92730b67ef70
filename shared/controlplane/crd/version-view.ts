import { cloneJson } from '../apimachinery/json.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceView } from '../resources/strategy.ts';
import type { Crd, CrdVersion } from './crd.ts';
import { pruneUnknownFields } from './schema-pruning.ts';

/**
 * One version of a custom resource that has several, with conversion strategy None. An object is stored in the storage version of its
 * last write and carries it as its apiVersion; from one version to another it loses what the other does not specify.
 */
export function versionView({ spec, status }: Crd, version: CrdVersion): ResourceView {
  const { group = '', versions = [] } = spec ?? {};
  const storage = versions.find((each) => each.storage === true);
  const convert = (object: AnyObject, to: CrdVersion | undefined): AnyObject => {
    const converted = cloneJson(object);
    pruneUnknownFields(converted, to?.schema?.openAPIV3Schema, true);
    return converted;
  };
  return {
    storageGroup: group,
    worksOn: 'shown',
    toStored: (object) => ({
      ...(version.name === storage?.name ? object : convert(object, storage)),
      apiVersion: `${group}/${storage?.name ?? ''}`,
    }),
    fromStored: (object) => {
      const { apiVersion = `${group}/${firstStored(status)}`, ...bare } = object;
      return apiVersion === `${group}/${version.name ?? ''}` ? bare : convert(bare, version);
    },
  };
}

/** Objects without apiVersion were stored while there was one version only. */
export const firstStored = (status: Crd['status']): string => status?.storedVersions?.[0] ?? '';
