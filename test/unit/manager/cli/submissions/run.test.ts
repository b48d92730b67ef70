import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runSubmitToQueue, type SubmitToQueueConfig } from '../../../../../manager/cli/submissions/run.ts';
import type { Session } from '../../../../../manager/cli/session.ts';

test('a file that is no YAML is named, and nothing is submitted', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-submit-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'job.yaml');
  writeFileSync(file, 'metadata: [');
  const config: SubmitToQueueConfig = {
    kubeconfig: undefined,
    context: undefined,
    namespace: undefined,
    way: { via: 'http', server: undefined, caFile: undefined, tokenFile: undefined, queue: 'jobs' },
    files: [file],
    queue: undefined,
    key: undefined,
    output: 'text',
    wait: false,
    timeout: 0,
  };
  // Files are read before anything of the session is used.
  expect(() => runSubmitToQueue(config, {} as Session)).toThrow(file);
});
