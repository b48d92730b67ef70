import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../../../../manager/cli/commands.ts';
import { candidatesOf } from '../../../../../manager/cli/completion/candidates.ts';
import { COMPLETE_WORD, completionScript, SHELLS } from '../../../../../manager/cli/completion/scripts.ts';

const after = (line: string) => candidatesOf(COMMANDS, line.split(' '));

describe('what could come next', () => {
  test.each<[string, readonly string[]]>([
    ['', ['submit', 'run', 'get', 'explain', 'cancel', 'clusters', 'doctor', 'import']],
    ['clusters ', ['join', 'leave', 'cordon', 'uncordon', 'drain']],
    ['get ', ['jobs', 'queues', 'clusters']],
    ['get jobs -o ', ['table', 'wide', 'json', 'yaml', 'name']],
    ['get jobs --output j', ['json']],
    ['get jobs --al', ['--all-namespaces']],
    ['completion ', ['bash', 'zsh', 'fish']],
    ['import ', ['kueue']],
  ])('%j', (line, words) => {
    expect(after(line).words).toEqual(expect.arrayContaining([...words]));
  });

  test.each([
    ['cl', ['clusters']],
    ['clusters jo', ['join']],
    ['run --image x -- sh ', []],
    ['nothing such ', []],
  ])('%j, and nothing else', (line, words) => {
    expect(after(line).words).toEqual(words);
  });

  test.each([
    ['cancel ', 'jobs'],
    ['get job ', 'jobs'],
    ['get clusters -n x ', 'clusters'],
    ['drain ', 'clusters'],
    ['submit f.yaml --queue ', 'queues'],
    ['get ', undefined],
    ['get jobs -o ', undefined],
  ])('%j: names of %s', (line, names) => {
    expect(after(line).names).toBe(names);
  });

  test('flags that were given say where names are asked for', () => {
    expect(Object.fromEntries(after('cancel -n team --context=east --yes ').given)).toEqual({ namespace: 'team', context: 'east' });
  });
});

test.each(SHELLS)('the script of %s asks the program', (shell) => {
  expect(completionScript(shell)).toContain(`switchyard ${COMPLETE_WORD} `);
});
