import path from 'node:path';
import { parseSync } from 'vite';

/** Which files a file imports at run time, all by their paths from the root of the project. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** `sources` are the texts of all files by path. What is imported as a type only is not run, and does not count. */
export function importGraph(sources: ReadonlyMap<string, string>): ImportGraph {
  return new Map([...sources].map(([file, text]) => [file, importsOf(file, text).filter((target) => sources.has(target))]));
}

/** The files that `isWanted` and that run `file` when they are imported, those that are the fewest imports away first. */
export function importersOf(graph: ImportGraph, file: string, isWanted: (name: string) => boolean): string[] {
  const importers = new Map<string, string[]>();
  for (const [importer, targets] of graph) {
    for (const target of targets) importers.set(target, [...(importers.get(target) ?? []), importer]);
  }
  const found = new Set([file]);
  for (const name of found) for (const importer of importers.get(name) ?? []) found.add(importer);
  return [...found].filter(isWanted);
}

function importsOf(file: string, text: string): string[] {
  const { module } = parseSync(file, text);
  const specifiers = [
    ...module.staticImports
      .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
      .map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, isType }) => (moduleRequest && !isType ? [moduleRequest.value] : [])),
    ),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
  ];
  return specifiers
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => path.posix.join(path.posix.dirname(file), specifier));
}
