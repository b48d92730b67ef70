import type { Table } from '../storage/store-table.ts';
import type { Crd } from './crd.ts';
import { applySchemaDefaults } from './schema-defaults.ts';
import { pruneUnknownFields } from './schema-pruning.ts';

/**
 * Upstream prunes and defaults stored custom resources whenever it reads them, so that a new schema shows in old objects
 * at once. Here that is done when the schema changes; no version changes and nobody is told, as there.
 */
export function readAnew(table: Table, crd: Crd): void {
  const schema = crd.spec?.versions?.find(({ storage }) => storage === true)?.schema?.openAPIV3Schema;
  for (const { object, text, revision } of table.list('')) {
    const next = structuredClone(object);
    pruneUnknownFields(next, schema, true);
    applySchemaDefaults(next, schema);
    const nextText = JSON.stringify(next);
    if (nextText !== text) table.restore(next, nextText, revision);
  }
}
