import type { FieldProblem } from '../api/field-problem.ts';
import { WRITE_RULES } from './job-parts.ts';
import { viewOf, type JobWrite } from './job-write.ts';
import { problemsOf } from './write-rule.ts';

/** What a write does that its writer may not do; nothing when it may pass. The manager may do anything. */
export const judgeWrite = (write: JobWrite): FieldProblem[] => (write.writer === 'Manager' ? [] : problemsOf(WRITE_RULES, viewOf(write)));
