import type { EndedPod } from '../../../shared/api/ended-pods.ts';
import type { DeepReadonly, Pod } from '../../../shared/api/kubernetes.ts';
import { JOB_COMPLETION_INDEX } from '../../../shared/api/names.ts';
import { plain } from '../plain-text.ts';

/** Which pods are meant. */
export type PodChoice = { readonly index: number | undefined; readonly failed: boolean };

export const isChosenPod = ({ metadata, status }: DeepReadonly<Pod>, { index, failed }: PodChoice): boolean =>
  (index === undefined || metadata.annotations?.[JOB_COMPLETION_INDEX] === String(index)) && (!failed || status?.phase === 'Failed');

export const isChosenEnd = (pod: EndedPod, { index, failed }: PodChoice): boolean =>
  (index === undefined || pod.index === index) && (!failed || pod.phase === 'Failed');

/** Lines of a log as they are printed: without what would steer a terminal, and, of one of several pods, with its name in front. */
export function printed(text: string, prefix: string | undefined): string {
  if (text === '') return '';
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
  return lines.map((line) => `${prefix === undefined ? '' : `${plain(prefix)}: `}${shown(line)}\n`).join('');
}

/** Programs write tabs, colours and carriage returns; of these only tabs are harmless. */
const shown = (line: string): string =>
  line
    .replace(/\r$/, '')
    .split('\t')
    .map((part) => plain(part))
    .join('\t');

/** The last lines of a text; all where `count` is undefined. */
export function lastLines(text: string, count: number | undefined): string {
  if (count === undefined) return text;
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
  const kept = count === 0 ? [] : lines.slice(-count);
  return kept.length === 0 ? '' : `${kept.join('\n')}\n`;
}

/** Cuts what comes in pieces into whole lines: what has no end yet waits for the next piece. */
export function lineCutter(): { take(piece: string): string; rest(): string } {
  let rest = '';
  return {
    take(piece) {
      const all = rest + piece;
      const end = all.lastIndexOf('\n') + 1;
      // A line without an end is printed in parts.
      const cut = end === 0 && all.length > LINE_LENGTH_MAX ? all.length : end;
      rest = all.slice(cut);
      return all.slice(0, cut);
    },
    rest: () => rest,
  };
}
const LINE_LENGTH_MAX = 64 * 1024;
