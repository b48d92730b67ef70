import { expect, test } from 'vitest';
import { jsonLines, logSink } from '../../../../../manager/cli/logs/log-sink.ts';
import type { Output } from '../../../../../manager/cli/session.ts';
import type { Pod } from '../../../../../shared/api/kubernetes.ts';

const pod: Pod = {
  metadata: {
    name: 'train-3-abcde',
    namespace: 'team',
    annotations: { 'batch.kubernetes.io/job-completion-index': '3' },
  } as unknown as Pod['metadata'],
  spec: { containers: [] },
};
function memory(): Output & { text: string } {
  const output = {
    text: '',
    isTerminal: false,
    width: Infinity,
    colours: false,
    write: async (text: string) => void (output.text += text),
  };
  return output;
}

test('lines are printed as they are, behind the name of their pod where there are several', async () => {
  const [output, errors] = [memory(), memory()];
  let many = false;
  const sink = logSink('text', output, errors, () => many);
  await sink.write('one\ntwo\n', pod);
  many = true;
  await sink.write('three\n', pod);
  await sink.say('no more');
  expect([output.text, errors.text]).toEqual(['one\ntwo\ntrain-3-abcde: three\n', 'no more\n']);
});

test('as JSON each line is an object of its own, with the index of its pod, and nothing that steers a terminal', async () => {
  const output = memory();
  await logSink('json', output, memory(), () => true).write('a\tb\r\n\u001b[31m"red"\n', pod);
  expect(output.text).toBe(
    '{"pod":"train-3-abcde","index":3,"line":"a\\tb"}\n{"pod":"train-3-abcde","index":3,"line":"\\u001b[31m\\"red\\""}\n',
  );
  expect(jsonLines('x\u202e\n', 'p', undefined)).toBe('{"pod":"p","line":"x\\u202e"}\n');
});

test('nothing is written of nothing', async () => {
  const output = memory();
  await logSink('json', output, memory(), () => false).write('', pod);
  expect(output.text).toBe('');
});
