/** A column of the table of Jobs. `order`: what it is sorted by. */
export type Column = {
  readonly id: string;
  readonly label: string;
  readonly width: string;
  readonly order?: string;
  readonly isOptional?: true;
};

/** In their order. Those that are optional are shown where somebody has chosen them. */
export const COLUMNS: readonly Column[] = [
  { id: 'job', label: 'Job', width: 'minmax(160px, 3fr)', order: 'name' },
  { id: 'state', label: 'State', width: '122px', order: 'state' },
  { id: 'queue', label: 'Queue', width: 'minmax(80px, 1.2fr)', order: 'queue' },
  { id: 'clusterqueue', label: 'Cluster queue', width: 'minmax(80px, 1.2fr)', isOptional: true },
  { id: 'cluster', label: 'Cluster', width: 'minmax(70px, 1fr)', order: 'cluster' },
  { id: 'user', label: 'User', width: 'minmax(80px, 1.2fr)', isOptional: true },
  { id: 'pods', label: 'Pods', width: '96px' },
  { id: 'age', label: 'Age', width: '48px', order: 'created' },
  { id: 'took', label: 'Took', width: '52px' },
  { id: 'ended', label: 'Ended', width: '76px', order: 'ended', isOptional: true },
  { id: 'why', label: 'Why', width: 'minmax(120px, 4fr)' },
];

const DEFAULT: readonly string[] = COLUMNS.filter(({ isOptional }) => isOptional !== true).map(({ id }) => id);
/** Without it a row says nothing. */
const ALWAYS = 'job';

/** The columns that a browser has kept as text; those of everybody where it has none. */
export function chosenColumns(text: string | null): readonly Column[] {
  const ids = new Set([ALWAYS, ...(text === null ? DEFAULT : text.split(','))]);
  return COLUMNS.filter(({ id }) => ids.has(id));
}

/** With one more column, or one less, as text to keep; null: those of everybody. */
export function toggled(columns: readonly Column[], id: string): string | null {
  const has = columns.some((column) => column.id === id);
  const next = COLUMNS.filter((column) => (column.id === id ? !has : columns.includes(column))).map((column) => column.id);
  return next.join() === DEFAULT.join() ? null : next.join();
}

export const canBeHidden = ({ id }: Column): boolean => id !== ALWAYS;
