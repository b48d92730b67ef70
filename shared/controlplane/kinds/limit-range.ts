import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { NAME_COLUMN, column } from './table-columns.ts';

/** core/v1 LimitRange: kept for users' manifests; nothing here applies limits to pods. */
export const limitRangeStrategy: ResourceStrategy = {
  validateCreate: ({ metadata }) => validateObjectMeta(metadata, true, subdomainName),
  validateUpdate: (next, previous) => [
    ...validateObjectMetaUpdate(next.metadata, previous.metadata),
    ...validateObjectMeta(next.metadata, true, subdomainName),
  ],
  table: {
    columns: [
      NAME_COLUMN,
      column('Created At', 'CreationTimestamp is a timestamp representing the server time when this object was created.', { type: 'date' }),
    ],
    cells: ({ metadata }, now) => [metadata.name, ageOf(metadata.creationTimestamp, now)],
  },
};
