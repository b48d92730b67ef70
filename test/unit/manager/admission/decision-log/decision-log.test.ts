import { expect, test } from 'vitest';
import { formatLogLine, objectName } from '../../../../../manager/admission/decision-log/decision-log.ts';

test('an object is named by its kind, its namespace where it has one, and its name', () => {
  expect(objectName({ kind: 'ClusterQueue', metadata: { name: 'main' } })).toBe('ClusterQueue main');
  expect(objectName({ kind: 'ClusterQueue', metadata: { namespace: '', name: 'main' } })).toBe('ClusterQueue main');
  expect(objectName({ kind: 'LocalQueue', metadata: { namespace: 'team', name: 'main' } })).toBe('LocalQueue team/main');
});

test('a line is one line, whatever a name has in it', () => {
  const line = { kind: 'end', at: 1, job: 'team/two\nlines', how: 'Finished' } as const;
  expect(formatLogLine(line).split('\n')).toHaveLength(2);
  expect(JSON.parse(formatLogLine(line))).toEqual(line);
});
