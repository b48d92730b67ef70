import { expect, test } from 'vitest';
import { createEventReader } from '../../../../../manager/cli/submissions/server-events.ts';

const STREAM =
  ': still here\n\nid: a1\nevent: progress\ndata: {"phase":"Running"}\n\ndata: one\ndata: two\n\nid: a2\nevent: ended\ndata: {}\n\nid: half';
const EVENTS = [
  { id: 'a1', event: 'progress', data: '{"phase":"Running"}' },
  { id: '', event: 'message', data: 'one\ntwo' },
  { id: 'a2', event: 'ended', data: '{}' },
];

test('events are read from pieces of whatever size; comments and what is not whole are none', () => {
  for (const size of [1, 2, 7, STREAM.length]) {
    const read = createEventReader();
    const pieces = Array.from({ length: Math.ceil(STREAM.length / size) }, (_, index) => STREAM.slice(index * size, (index + 1) * size));
    expect(pieces.flatMap(read), `pieces of ${size}`).toEqual(EVENTS);
  }
});
