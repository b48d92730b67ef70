import type { TableColumn } from '../resources/strategy.ts';

/** A column of a Table. Columns of priority 1 appear in wide output only; `description` is what `kubectl explain` would say. */
export const column = (name: string, description: string, options: { wide?: true; type?: string; format?: string } = {}): TableColumn => ({
  name,
  type: options.type ?? 'string',
  format: options.format ?? '',
  description,
  priority: options.wide === true ? 1 : 0,
});

export const NAME_COLUMN = column(
  'Name',
  'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated.',
  { format: 'name' },
);

export const AGE_COLUMN = column(
  'Age',
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.',
);
