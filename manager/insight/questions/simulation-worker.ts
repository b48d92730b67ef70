/** The thread that simulation-client.ts starts: it receives a world and answers queries about it, without blocking the manager. */
import { parentPort, type MessagePort } from 'node:worker_threads';
import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import type { WorkKindSpec } from '../../api/work-kind.ts';
import { JOB_KIND } from '../../work-kind/job/job-kind.ts';
import { createKinds } from '../../work-kind/kinds.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import type { ManagerFlags, WorldObjects } from '../world/world-objects.ts';
import { answering, type AnswerQuery, type SimulationResult, type SimulationQuery } from './simulation-queries.ts';

export type ToThread =
  | {
      readonly kind: 'World';
      /** The kinds beside Jobs. */
      readonly described: readonly WorkKindSpec[];
      readonly objects: Omit<WorldObjects, 'jobs'>;
      readonly flags: ManagerFlags;
      readonly nowMs: number;
    }
  /** Jobs of that world, in parts. */
  | { readonly kind: 'Jobs'; readonly jobs: readonly DeepReadonly<WorkObject>[] }
  | { readonly kind: 'Ask'; readonly question: SimulationQuery };
export type FromThread = { readonly answer: SimulationResult } | { readonly problem: string };

if (parentPort !== null) serve(parentPort);

function serve(port: MessagePort): void {
  let world: Extract<ToThread, { kind: 'World' }> | undefined;
  let jobs: DeepReadonly<WorkObject>[] = [];
  let answer: AnswerQuery | undefined;

  const answered = async (question: SimulationQuery): Promise<FromThread> => {
    if (world === undefined) return { problem: 'no world was sent' };
    try {
      answer ??= answering(await kindOf(world.described), { ...world.objects, jobs }, world.flags, world.nowMs);
      return { answer: answer(question) };
    } catch (error) {
      return { problem: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
  };

  port.on('message', (message: ToThread) => {
    switch (message.kind) {
      case 'World':
        [world, jobs, answer] = [message, [], undefined];
        return;
      case 'Jobs':
        for (const job of message.jobs) jobs.push(job);
        return;
      case 'Ask':
        // The client asks one question at a time, and sends nothing before its answer.
        void answered(message.question).then((said) => port.postMessage(said));
    }
  });
}

/** Jobs and the kinds of these descriptions, which the manager has compiled as well. */
async function kindOf(described: readonly WorkKindSpec[]): Promise<WorkKind> {
  if (described.length === 0) return JOB_KIND;
  // The evaluator of expressions is loaded only where there are some.
  const { describedKinds } = await import('../../work-kind/described/described-kind.ts');
  return createKinds(JOB_KIND, describedKinds(described));
}
