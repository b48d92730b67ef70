import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** Ends the output with one plain line, such as `1200 passed, 0 failed, 1 skipped`, for people and programs that read logs. */
export class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state] += 1;
      // A file that cannot even be loaded has no tests to fail.
      counts.failed += module.errors().length;
    }
    // Such as one of a file for which no process could be started.
    counts.failed += unhandledErrors.length;
    console.log(`${counts.passed} passed, ${counts.failed} failed${counts.skipped === 0 ? '' : `, ${counts.skipped} skipped`}`);
  }
}
