import { describe, expect, test } from 'vitest';
import { formatLogLine, objectName } from '../../../../../manager/admission/decision-log/decision-log.ts';
import { DecisionLogError, readDecisionLog } from '../../../../../manager/insight/replay/decision-log-reader.ts';
import { arrives, begun } from './logged-day.ts';

const text = [...begun(), arrives(1, 'a', 1)].map(formatLogLine).join('');
const read = (...texts: readonly string[]) => readDecisionLog(texts.map((each, index) => ({ name: `log.${index}`, text: each })));
const head = text.slice(0, text.indexOf('\n') + 1);

describe('reading a decision log', () => {
  test('gives back what was written, blank lines and lines of the manager’s own log left out', () => {
    const mixed = text.replaceAll('\n', '\n\n{"level":"info","time":"2026-01-05T00:00:00Z","message":"metrics and health are served"}\n');
    expect(read(mixed)).toEqual({ lines: [...begun(), arrives(1, 'a', 1)], cutOff: 0 });
  });

  test('a last line that a crash has cut off is passed over', () => {
    const cut = read(text.slice(0, -30));
    expect(cut.cutOff).toBe(1);
    expect(cut.lines).toEqual(begun());
  });

  test('a line that is cut off before the next section is passed over, one in the middle of a section is not', () => {
    expect(read(`${text.slice(0, -30)}\n${text}`)).toMatchObject({ cutOff: 1 });
    expect(() => read(`${head}{"kind":"job","at":1\n${text.slice(head.length)}`)).toThrow(
      /log\.0, line 2: this is no line of a decision log/,
    );
  });

  test('files are put in order of time, whatever their order', () => {
    const later = text.replaceAll('"at":1767', '"at":1768');
    expect(read(later, text).lines.map(({ at }) => at)).toEqual(read(text, later).lines.map(({ at }) => at));
  });

  test('a log of a version that is not known is refused, with what to do', () => {
    expect(() => read(text.replace('"version":1', '"version":2'))).toThrow(
      'log.0, line 1: it is of version 2, and this replay reads version 1; use the one of the release that wrote it',
    );
  });

  test.each(['', '{"kind":"job"}\n', 'apiVersion: v1\nkind: List\n', '{"apiVersion":"v1"}'])(
    'what is no decision log is refused: %j',
    (other) => {
      expect(() => read(other)).toThrow(DecisionLogError);
    },
  );

  test('a file that begins in the middle of a section is refused', () => {
    expect(() => read(text.slice(head.length))).toThrow(/a decision log begins with a line of kind "log"/);
  });

  test('lines of which a field is of another type are no lines of a log', () => {
    expect(() => read(`${head}{"kind":"cycle","at":1,"cycle":1,"most":1,"admitted":"all"}\n${formatLogLine(arrives(1, 'a', 1))}`)).toThrow(
      /line 2/,
    );
  });
});

test('objects are named by kind and name, and by namespace where there is one', () => {
  expect(objectName({ kind: 'LocalQueue', metadata: { name: 'a', namespace: 'team' } })).toBe('LocalQueue team/a');
  expect(objectName({ kind: 'Cohort', metadata: { name: 'a' } })).toBe('Cohort a');
});
