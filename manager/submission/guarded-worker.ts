import { Worker, type Job, type JobJson, type Processor, type WorkerOptions } from 'bullmq';

/**
 * A BullMQ worker that looks at the text of a submission before it is parsed. What is wrong with it is told with the job, whose data are
 * then empty: BullMQ itself would parse whatever there is, and hand a job that it cannot parse out again for ever.
 */
export class GuardedWorker extends Worker {
  readonly #problems = new WeakMap<Job, string>();
  readonly #problemOf: (text: string) => string | undefined;

  constructor(problemOf: (text: string) => string | undefined, name: string, process: Processor, options: WorkerOptions) {
    super(name, process, options);
    this.#problemOf = problemOf;
  }

  /** Why the data of the job were not parsed. */
  problemOf(job: Job): string | undefined {
    return this.#problems.get(job);
  }

  protected override createJob(json: JobJson, jobId: string): Job {
    const problem = this.#problemOf(json.data ?? '{}');
    const job = super.createJob(problem === undefined ? json : { ...json, data: '{}' }, jobId);
    if (problem !== undefined) this.#problems.set(job, problem);
    return job;
  }
}
