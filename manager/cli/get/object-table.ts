import type { KubeObject } from '../../../shared/api/kubernetes.ts';
import type { Paint, Table } from '../text-table.ts';
import { formatTable } from '../text-table.ts';
import type { Column, KindView } from './kinds.ts';

export type TableStyle = {
  readonly wide: boolean;
  readonly namespaces: boolean;
  readonly width: number;
  readonly nowMs: number;
  readonly paint: Paint;
};

const NAMESPACE: Column = { head: 'NAMESPACE', cell: ({ metadata }) => metadata.namespace ?? '' };

/** A heading, and a line for each object. With `-o wide` nothing is left out, and lines are as long as they are. */
export function objectTable({ columns, note }: KindView, objects: readonly KubeObject[], style: TableStyle): string[] {
  const shown = [...(style.namespaces ? [NAMESPACE] : []), ...columns.filter(({ wide }) => style.wide || wide !== true)];
  const spare = shown.filter((column) => column.spare !== undefined).toSorted((a, b) => (a.spare ?? 0) - (b.spare ?? 0));
  const table: Table = {
    heads: shown.map(({ head }) => head),
    spare: style.wide ? [] : spare.map(({ head }) => head),
    rows: objects.map((object) => ({ cells: shown.map(({ cell }) => cell(object, style.nowMs)), note: style.wide ? '' : note(object) })),
  };
  return formatTable(table, style.wide ? Number.POSITIVE_INFINITY : style.width, style.paint);
}
