import { expect, test } from 'vitest';
import { controlQueueName } from '../../../../shared/api/control-queue.ts';

test('the control queue lies beside the one it is for', () => {
  expect(controlQueueName('switchyard-submissions')).toBe('switchyard-submissions-control');
});
