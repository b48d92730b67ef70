import { expect, test } from 'vitest';
import { createEventReader } from '../../../../manager/cli/submissions/server-events.ts';
import { eventFrame } from '../../../../shared/runtime/event-frame.ts';

test('what is written is read again, one event after the other', () => {
  const events = [
    { id: 'epoch.1', event: 'yard', data: JSON.stringify({ text: 'two\nlines', more: '\n\n' }) },
    { id: 'epoch.2', event: 'change', data: '{}' },
  ];
  expect(createEventReader()(events.map(({ id, event, data }) => eventFrame(id, event, data)).join(''))).toEqual(events);
});
