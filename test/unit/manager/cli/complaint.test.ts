import { expect, test } from 'vitest';
import { complaintOf } from '../../../../manager/cli/complaint.ts';

test.each([
  ["error: unknown command 'explan'\n(Did you mean explain?)", 'unknown command "explan"; did you mean explain?'],
  ["error: unknown option '--bogus'", 'unknown option "--bogus"; switchyard --help lists what there is'],
  [
    "error: too many arguments for 'explain'. Expected 1 argument but got 2: a, b.",
    'too many arguments for "explain". Expected 1 argument but got 2: a, b; switchyard --help lists what there is',
  ],
])('what the library says of a command line becomes one line with a remedy: %j', (message, complaint) => {
  expect(complaintOf(message, 'switchyard')).toBe(complaint);
});
