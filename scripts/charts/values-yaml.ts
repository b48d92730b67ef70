import { parse, stringify } from 'yaml';
import type { ChartValue } from './chart-value.ts';

/** The values.yaml of a chart: every value with what it means and its default; one that is not set stands there as a comment. */
export function valuesYaml(values: ChartValue): string {
  const entries = Object.entries(values.properties ?? {}).filter(([name]) => name !== 'global');
  const blocks = entries.map(([name, value]) => ({
    lines: linesOf(name, value, 0),
    isLoose: value.description === '' && value.properties === undefined,
  }));
  return `${blocks.map(({ lines, isLoose }, index) => `${index > 0 && !(isLoose && blocks[index - 1]?.isLoose) ? '\n' : ''}${lines.join('\n')}\n`).join('')}`;
}

function linesOf(name: string, value: ChartValue, depth: number): string[] {
  const indent = '  '.repeat(depth);
  const comment = wrapped(value.description ?? '', 138 - indent.length).map((line) => `${indent}# ${line}`);
  if (value.properties !== undefined) {
    const inner = Object.entries(value.properties).flatMap(([key, each]) => linesOf(key, each, depth + 1));
    return [...comment, `${indent}${name}:${inner.every((line) => line.trim().startsWith('#')) ? ' {}' : ''}`, ...inner];
  }
  if (value.default === undefined) return [...comment, `${indent}# ${name}: ${value['x-fallback'] ?? ''}`.trimEnd()];
  return [...comment, ...yamlOf(name, value.default).map((line) => `${indent}${line}`)];
}

/** Helm reads YAML 1.1, and does not take every plain text that its grammar allows in a list. Lists of texts stand on one line. */
function yamlOf(name: string, value: unknown): string[] {
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return [`${name}: [${value.map(listed).join(', ')}]`];
  return stringify({ [name]: value }, { compat: 'yaml-1.1', lineWidth: 0 })
    .trimEnd()
    .split('\n');
}

const listed = (item: string): string =>
  /^[A-Za-z0-9][\w./-]*$/.test(item) && typeof parse(item, { version: '1.1' }) === 'string' ? item : JSON.stringify(item);

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text === '' ? [] : text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
