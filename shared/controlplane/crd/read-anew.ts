import type { AnyObject } from '../apimachinery/object.ts';
import type { Table } from '../storage/store-table.ts';
import type { Crd } from './crd.ts';
import { applySchemaDefaults } from './schema-defaults.ts';
import { pruneUnknownFields } from './schema-pruning.ts';
import { firstStored } from './version-view.ts';

/**
 * Upstream prunes and defaults stored custom resources whenever it reads them, so that a new schema shows in old objects
 * at once. Here that is done when the schema changes; no version changes and nobody is told, as there. Where there are several
 * versions every object says in which it is stored.
 */
export function readAnew(table: Table, { spec, status }: Crd): void {
  const { group = '', versions = [] } = spec ?? {};
  for (const { object, text, revision } of table.list('')) {
    const { apiVersion = `${group}/${firstStored(status)}`, ...bare } = structuredClone(object);
    const stored = versions.find(({ name }) => apiVersion === `${group}/${name ?? ''}`) ?? versions.find(({ storage }) => storage === true);
    pruneUnknownFields(bare, stored?.schema?.openAPIV3Schema, true);
    applySchemaDefaults(bare, stored?.schema?.openAPIV3Schema);
    const next: AnyObject = versions.length > 1 ? { ...bare, apiVersion } : bare;
    const nextText = JSON.stringify(next);
    if (nextText !== text) table.restore(next, nextText, revision);
  }
}
