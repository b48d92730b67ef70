import type { DeepReadonly, Pod } from '../../../shared/api/kubernetes.ts';
import { JOB_COMPLETION_INDEX } from '../../../shared/api/names.ts';
import { plainDocument } from '../plain-text.ts';
import type { Output } from '../session.ts';
import { printed } from './log-lines.ts';
import type { LogSink } from './print-pod-log.ts';

/**
 * `text`: lines as they are, behind the names of their pods where these are several. `json`: each line as an object of a line of its own.
 */
export type LogForm = 'text' | 'json';

/** `isOneOfMany` says whether lines are to tell of which pod they are. */
export function logSink(form: LogForm, output: Output, errors: Output, isOneOfMany: () => boolean): LogSink {
  return {
    async write(text, pod) {
      if (text === '') return;
      if (form === 'json') return await output.write(jsonLines(text, pod.metadata.name, indexOf(pod)));
      await output.write(printed(text, isOneOfMany() ? pod.metadata.name : undefined));
    },
    say: (line) => errors.write(`${line}\n`),
  };
}

/** Each line as `{"pod": "...", "index": 3, "line": "..."}`. */
export function jsonLines(text: string, pod: string, index: number | undefined): string {
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
  return lines.map((line) => plainDocument(`${JSON.stringify({ pod, index, line: line.replace(/\r$/, '') })}\n`)).join('');
}

function indexOf({ metadata }: DeepReadonly<Pod>): number | undefined {
  const said = metadata.annotations?.[JOB_COMPLETION_INDEX];
  return said === undefined ? undefined : Number(said);
}
