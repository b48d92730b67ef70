import { expect, test } from 'vitest';
import { tracedLog } from '../../../../manager/story/traced-log.ts';
import { jobTrace } from '../../../../shared/api/job-trace.ts';
import type { LogFields, Logger } from '../../../../shared/runtime/logger.ts';
import { aHomeJob } from '../../../support/jobs.ts';

function noting(lines: LogFields[], common: LogFields = {}): Logger {
  const write = (message: string, fields?: LogFields): void => void lines.push({ message, ...common, ...fields });
  return { debug: write, info: write, warn: write, error: write, with: (fields) => noting(lines, { ...common, ...fields }) };
}

test('a line about a Job says which trace it has; others stay as they are', () => {
  const lines: LogFields[] = [];
  const job = aHomeJob({ metadata: { name: 'pi' } });
  const log = tracedLog(noting(lines), (key) => (key === 'team/pi' ? job : undefined)).with({ part: 'x' });
  const { traceId } = jobTrace(job);
  log.info('admitted', { job: 'team/pi', cluster: 'east' });
  log.warn('not known', { job: 'team/gone' });
  log.error('of none', { cluster: 'east' });
  log.debug('nothing');
  log.with({ job: 'team/pi' }).info('with');
  expect(lines).toEqual([
    { message: 'admitted', part: 'x', job: 'team/pi', cluster: 'east', trace_id: traceId },
    { message: 'not known', part: 'x', job: 'team/gone' },
    { message: 'of none', part: 'x', cluster: 'east' },
    { message: 'nothing', part: 'x' },
    { message: 'with', part: 'x', job: 'team/pi', trace_id: traceId },
  ]);
});
