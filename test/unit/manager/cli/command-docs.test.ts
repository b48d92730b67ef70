import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { commandDocs } from '../../../../manager/cli/command-docs.ts';
import { COMMANDS } from '../../../../manager/cli/commands.ts';
import { EXIT_CODES, ExitCode } from '../../../../manager/cli/exit-codes.ts';

const FILE = path.join(import.meta.dirname, '../../../../docs/cli.md');

test('docs/cli.md says what the commands say of themselves; node scripts/generate-cli-docs.ts writes it', () => {
  expect(readFileSync(FILE, 'utf8')).toBe(commandDocs(COMMANDS));
});

test('every common exit code is explained', () => {
  expect(Object.keys(EXIT_CODES).map(Number)).toEqual(Object.values(ExitCode));
});

test('every command is named once, and says what each of its flags is for', () => {
  const words = COMMANDS.map((command) => command.words);
  expect(words).toEqual([...new Set(words)]);
  for (const { flags, words: name } of COMMANDS) {
    const letters = Object.values(flags).flatMap(({ short }) => short ?? []);
    expect(letters, name).toEqual([...new Set(letters)]);
    expect(
      Object.values(flags).filter(({ about }) => about === ''),
      name,
    ).toEqual([]);
  }
});
