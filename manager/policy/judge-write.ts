import type { FieldProblem } from '../api/field-problem.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';
import { WRITE_RULES } from './job-parts.ts';
import { viewOf, type JobWrite } from './job-write.ts';
import { inFieldsOf, problemsOf } from './write-rule.ts';

/** The rules that a write breaks; none when it may pass. The manager may write anything. */
export const judgeWrite = (kind: WorkKind, write: JobWrite): FieldProblem[] =>
  write.writer === 'Manager'
    ? []
    : problemsOf(WRITE_RULES, viewOf(kind, write)).map((each) => inFieldsOf(kind.of(write.job.metadata.name).fields, each));
