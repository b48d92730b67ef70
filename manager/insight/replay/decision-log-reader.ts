import { isJsonObject, parseJson } from '../../api/json-value.ts';
import { DECISION_LOG_VERSION, type LogLine } from '../../admission/decision-log/decision-log.ts';

/** A text that is no decision log, or cannot be read: the message names the line and the remedy. */
export class DecisionLogError extends Error {
  override readonly name = 'DecisionLogError';
}

export type DecisionLogText = { readonly name: string; readonly text: string };
export type DecisionLogRead = {
  readonly lines: readonly LogLine[];
  /** Lines that were cut off by a crash or a full disk. */
  readonly cutOff: number;
};

/**
 * The lines of a log in order of time, whatever the order of its files. A cut-off line is skipped at the end of a file or before the next
 * section. Lines of the manager's own log, which may share the destination, are skipped too. Throws {@link DecisionLogError}.
 */
export function readDecisionLog(files: readonly DecisionLogText[]): DecisionLogRead {
  const read = files.map(readFile).filter(({ lines }) => lines.length > 0);
  if (read.length === 0) throw new DecisionLogError(`${files.map(({ name }) => name).join(', ')}: there is no line of a decision log`);
  read.sort((a, b) => (a.lines[0]?.at ?? 0) - (b.lines[0]?.at ?? 0));
  return { lines: read.flatMap(({ lines }) => lines), cutOff: read.reduce((sum, { cutOff }) => sum + cutOff, 0) };
}

function readFile({ name, text }: DecisionLogText): { readonly lines: readonly LogLine[]; readonly cutOff: number } {
  const lines: LogLine[] = [];
  let cutOff = 0;
  /** The number of an unreadable line, until the line after it is known. */
  let broken: number | undefined;
  let number = 0;
  for (const each of text.split('\n')) {
    number++;
    if (each.trim() === '') continue;
    const line = parseLine(each, name, number);
    if (line === 'foreign') continue;
    if (line === undefined) {
      if (broken !== undefined) throw damaged(name, broken);
      broken = number;
      continue;
    }
    if (broken !== undefined) {
      if (line.kind !== 'log') throw damaged(name, broken);
      cutOff++;
      broken = undefined;
    }
    if (lines.length === 0 && line.kind !== 'log')
      throw new DecisionLogError(
        `${name}, line ${number}: a decision log begins with a line of kind "log"; is this the beginning of one of its files?`,
      );
    lines.push(line);
  }
  return { lines, cutOff: cutOff + (broken === undefined ? 0 : 1) };
}

const damaged = (name: string, number: number): DecisionLogError =>
  new DecisionLogError(
    `${name}, line ${number}: this is no line of a decision log; take it out with all up to the next line of kind "log"`,
  );

/** A line of the log; undefined if it cannot be read. */
function parseLine(text: string, name: string, number: number): LogLine | 'foreign' | undefined {
  const value = parseJson(text);
  if (!isJsonObject(value)) return undefined;
  const { kind, at, version } = value;
  if (kind === undefined && typeof value['level'] === 'string' && typeof value['message'] === 'string') return 'foreign';
  if (kind === 'log' && version !== DECISION_LOG_VERSION) {
    throw new DecisionLogError(
      `${name}, line ${number}: it is of version ${JSON.stringify(version)}, and this replay reads version ${DECISION_LOG_VERSION}; use the one of the release that wrote it`,
    );
  }
  if (typeof at !== 'number' || typeof kind !== 'string' || FIELDS[kind]?.every(([field, type]) => isOf(value[field], type)) !== true)
    return undefined;
  return value as unknown as LogLine;
}

type FieldType = 'string' | 'number' | 'object' | 'list?';
/** Required fields of each kind of line. */
const FIELDS: Readonly<Record<string, readonly (readonly [string, FieldType])[]>> = {
  log: [
    ['because', 'string'],
    ['settings', 'object'],
  ],
  object: [['object', 'object']],
  gone: [['object', 'string']],
  job: [
    ['job', 'string'],
    ['uid', 'string'],
    ['arrival', 'number'],
    ['created', 'number'],
    ['requests', 'object'],
    ['shape', 'string'],
    ['phase', 'string'],
  ],
  again: [['job', 'string']],
  whole: [],
  phase: [
    ['job', 'string'],
    ['phase', 'string'],
  ],
  end: [
    ['job', 'string'],
    ['how', 'string'],
  ],
  cycle: [
    ['cycle', 'number'],
    ['most', 'number'],
    ['admitted', 'list?'],
    ['preempting', 'list?'],
    ['waiting', 'list?'],
  ],
  looked: [['because', 'string']],
} satisfies Record<LogLine['kind'], readonly (readonly [string, FieldType])[]>;

function isOf(value: unknown, type: FieldType): boolean {
  if (type === 'object') return isJsonObject(value);
  if (type === 'list?') return value === undefined || (Array.isArray(value) && value.every(isJsonObject));
  return typeof value === type;
}
