import type { FieldProblem } from '../api/field-problem.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';
import { WRITE_RULES } from './job-parts.ts';
import { viewOf, type JobWrite } from './job-write.ts';
import { problemsOf, wordsOf } from './write-rule.ts';

/** The rules that a write breaks, in the words of its kind; none when it may pass. The manager may write anything. */
export function judgeWrite(kind: WorkKind, write: JobWrite): FieldProblem[] {
  if (write.writer === 'Manager') return [];
  return problemsOf(WRITE_RULES, wordsOf(kind.of(write.job.metadata.name)), viewOf(kind, write));
}
