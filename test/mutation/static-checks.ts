import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Compiler and linter, on a copy of the project in which one file may be another. */
export type StaticChecks = {
  /** Whether the project compiles as it is. */
  takesOriginal(): boolean;
  /** Which of the two refuses the project with `text` in place of `file`; undefined when neither does. */
  refusedBy(file: string, text: string, original: string): 'compiler' | 'linter' | undefined;
  close(): void;
};

const LEFT_OUT = new Set(['node_modules', '.git']);

export function createStaticChecks(root: string): StaticChecks {
  const copy = mkdtempSync(path.join(tmpdir(), 'switchyard-checks-'));
  cpSync(root, copy, { recursive: true, filter: (source) => !LEFT_OUT.has(path.relative(root, source)) });
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  const passes = (program: string, ...args: string[]): boolean => {
    const { status, error } = spawnSync(path.join(root, 'node_modules/.bin', program), args, { cwd: copy });
    if (error !== undefined) throw new Error(`run ${program}`, { cause: error });
    return status === 0;
  };
  const compiles = (): boolean => passes('tsc', '-p', '.', '--incremental', '--tsBuildInfoFile', path.join(copy, '.tsbuildinfo'));
  const lints = (file: string): boolean => passes('oxlint', '--type-aware', '--deny-warnings', file);
  return {
    takesOriginal: compiles,
    refusedBy(file, text, original) {
      writeFileSync(path.join(copy, file), text);
      try {
        if (!compiles()) return 'compiler';
        return lints(file) ? undefined : 'linter';
      } finally {
        writeFileSync(path.join(copy, file), original);
      }
    },
    close: () => rmSync(copy, { recursive: true, force: true }),
  };
}
