import type { Answer, ApiCase, Comparison } from './api-case.ts';
import type { PlayedCase } from './api-case-player.ts';
import { isObject, removeAt, valueAt } from './json-path.ts';
import { createPlaceholders, type Placeholders } from './placeholders.ts';

/**
 * The answers of a run in the form in which two runs can be compared: what depends on the run is a placeholder, what must
 * be equal stays equal, and what a case says does not matter is left out.
 */
export function normalForm(played: PlayedCase, apiCase: ApiCase, nowMs: number): Answer[] {
  const placeholders = createPlaceholders(played, nowMs);
  return played.answers.map((answer, position) => {
    const comparison = apiCase.exchanges[position] ?? {};
    return relevant(normalValue(answer, placeholders, comparison) as Answer, comparison);
  });
}

/** The expectation of an exchange, likewise without what does not matter. */
export const expectedForm = ({ expect = {}, ignore = [] }: Comparison): Answer => relevant(expect, { ignore });

function normalValue(value: unknown, placeholders: Placeholders, comparison: Comparison): unknown {
  if (typeof value === 'string') return placeholders.text(value);
  if (Array.isArray(value)) return value.map((element) => normalValue(element, placeholders, comparison));
  if (!isObject(value)) return value;
  const normal: Record<string, unknown> = {};
  for (const [key, element] of Object.entries(value)) {
    if ((key === 'managedFields' && comparison.managedFields !== true) || key === 'storageVersionHash') continue;
    // Upstream orders entries by the second of their last write, which is chance. The recordings have them by manager.
    if (key === 'managedFields' && Array.isArray(element)) {
      normal[key] = inOrderOf(JSON.stringify, normalValue(element, placeholders, comparison) as unknown[]);
    } else if (key === 'metadata' && isObject(element)) {
      normal[key] = normalMetadata(element, placeholders, comparison);
    } else {
      normal[placeholders.text(key)] = normalValue(element, placeholders, comparison);
    }
  }
  return value['kind'] === 'Table' ? normalTable(normal) : normal;
}

function normalMetadata(metadata: Record<string, unknown>, placeholders: Placeholders, comparison: Comparison): unknown {
  const normal = normalValue(metadata, placeholders, comparison) as Record<string, unknown>;
  delete normal['selfLink'];
  const { resourceVersion, uid } = metadata;
  if (typeof resourceVersion === 'string' && resourceVersion !== '') {
    normal['resourceVersion'] = typeof uid === 'string' ? placeholders.version(uid, resourceVersion) : '<rv>';
  }
  if (metadata['continue']) normal['continue'] = '<continue>';
  return normal;
}

/** Ages go, and so do the descriptions of columns: they are prose of a release. */
function normalTable(table: Record<string, unknown>): unknown {
  const columns = Array.isArray(table['columnDefinitions']) ? table['columnDefinitions'].filter(isObject) : [];
  const isAge = columns.map(({ name }) => /^(age|duration|last seen|first seen)$/i.test(String(name)));
  for (const column of columns) delete column['description'];
  for (const row of Array.isArray(table['rows']) ? table['rows'].filter(isObject) : []) {
    if (!Array.isArray(row['cells'])) continue;
    row['cells'] = row['cells'].map((cell: unknown, position) => {
      // Only the first answer to a watch has columns; later ones show durations that one must know by their looks.
      const age = typeof cell === 'string' && (columns.length > 0 ? isAge[position] && /^\d/.test(cell) : /^\d+[smhd]/.test(cell));
      return age ? '<age>' : cell;
    });
  }
  return table;
}

function relevant(answer: Answer, { only, ignore = [], unordered = [] }: Comparison): Answer {
  const reduced = only === undefined ? { ...answer } : reducedTo(only, answer);
  const roots = [reduced.body, ...(reduced.events ?? []).map((event) => valueAt(event, 'object')), ...(reduced.calls ?? [])];
  for (const path of ignore) for (const root of roots) removeAt(root, path);
  for (const path of unordered) {
    const list = valueAt(reduced.body, path);
    if (Array.isArray(list)) list.splice(0, list.length, ...inOrderOf(canonicalText, list));
  }
  return JSON.parse(JSON.stringify(reduced)) as Answer;
}

/** Only what is at these paths; refusals and ERROR events stay whole. */
function reducedTo(only: readonly string[], answer: Answer): Answer {
  const at = (root: unknown): Record<string, unknown> => Object.fromEntries(only.map((path) => [path, valueAt(root, path) ?? null]));
  const { body, ...rest } = answer;
  const keepsBody = !isObject(body) || (answer.status ?? 0) >= 400;
  return {
    ...rest,
    ...(keepsBody ? (body === undefined ? {} : { body }) : only.length === 0 ? {} : { shown: at(body) }),
    ...(answer.calls === undefined ? {} : { calls: answer.calls.map(at) }),
    ...(answer.events === undefined
      ? {}
      : {
          events: answer.events.map((event) => {
            const [type, object] = [valueAt(event, 'type'), valueAt(event, 'object')];
            return { type, ...(type === 'ERROR' ? { object } : at(object)) };
          }),
        }),
  };
}

/** In an order that depends on nothing but the elements. */
const inOrderOf = (textOf: (element: unknown) => string, list: readonly unknown[]): unknown[] =>
  list
    .map((element) => ({ element, text: textOf(element) }))
    .toSorted((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ element }) => element);

const canonicalText = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    isObject(part) && !Array.isArray(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
