import { goFloat } from '../../cel/go-float.ts';
import { goJson } from '../apimachinery/json.ts';
import { ageOf } from '../kinds/age.ts';
import { NAME_COLUMN } from '../kinds/table-columns.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { TableColumn, TablePrinter } from '../resources/strategy.ts';
import type { PrinterColumn } from './crd.ts';
import { compileJsonPath } from './json-path.ts';

const DEFAULT_COLUMNS: readonly PrinterColumn[] = [
  {
    name: 'Age',
    type: 'date',
    description:
      'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata',
    jsonPath: '.metadata.creationTimestamp',
  },
];

/** The Table of a custom resource: its name, then what additionalPrinterColumns says, by default its age. */
export function customTable(columns: readonly PrinterColumn[] = []): TablePrinter {
  const chosen = columns.length === 0 ? DEFAULT_COLUMNS : columns;
  const cells = chosen.map(cellOf);
  return {
    columns: [NAME_COLUMN, ...chosen.map(tableColumn)],
    cells: (object, now) => [object.metadata.name, ...cells.map((cell) => cell(object, now))],
  };
}

const tableColumn = ({ name = '', type = '', format = '', description, priority = 0, jsonPath = '' }: PrinterColumn): TableColumn => ({
  name,
  type,
  format,
  description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
  priority,
});

function cellOf({ type, jsonPath = '' }: PrinterColumn): (object: AnyObject, now: number) => unknown {
  const path = compileJsonPath(jsonPath);
  return (object, now) => {
    const [value] = path?.find(object) ?? [];
    return value === undefined ? null : cellValue(type, value, now);
  };
}

/** A value that does not have the column's type is shown as nothing. */
function cellValue(type: string | undefined, value: unknown, now: number): unknown {
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'string':
      return textOf(value);
    case 'date': {
      if (typeof value !== 'string') return null;
      if (value === '') return ageOf(undefined, now);
      return RFC_3339.test(value) && !Number.isNaN(Date.parse(value)) ? ageOf(value, now) : '<invalid>';
    }
    default:
      return null;
  }
}

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

/** A value as JSONPath prints it: containers as JSON, anything else as Go does. */
function textOf(value: unknown): string {
  if (value === null) return '<no value>';
  if (typeof value === 'object') return goJson(value);
  return typeof value === 'number' && !Number.isInteger(value) ? goFloat(value) : String(value);
}
