import { seededRandom, type Random } from '../../../shared/runtime/random.ts';

/** A Job of the packing bench. Times are virtual, in milliseconds; its pods run at once and are equal. */
export type PackingJob = {
  readonly name: string;
  /** The number of its queue, from 0. */
  readonly queue: number;
  /** Jobs of one family are runs of the same program: their run times are similar. */
  readonly family: string;
  readonly arrivalMs: number;
  /** Whole cpus of all pods together. */
  readonly cpu: number;
  readonly pods: number;
  readonly runMs: number;
  /** The run time that its user states, at least {@link runMs} in generated loads. */
  readonly limitMs: number;
};

export type JobsLoad = {
  readonly seed: number;
  readonly jobs: number;
  readonly queues: number;
  readonly clusters: number;
};

/** A cluster has this many cpus, in nodes of {@link NODE_CPU}. */
export const CLUSTER_CPU = 128;
export const NODE_CPU = 16;

/** A Job of at least half a cluster is large. */
export const isLarge = ({ cpu }: Pick<PackingJob, 'cpu'>, clusterCpu: number): boolean => cpu >= clusterCpu / 2;

/** The work that arrives, as a share of what all clusters can do in the same time. */
const LOAD = 0.95;
const LARGE_SHARE = 0.15;
const LARGE_CPUS = [64, 80, 96, 112, 128];
const SMALL_CPUS = [1, 2, 4];
const FAMILIES = 80;
/** Run times are log-normal: a median for each family, and from there for each Job. */
const MEDIAN_MS = 5 * 60_000;
const FAMILY_SIGMA = 0.7;
const JOB_SIGMA = 1;
const LIMIT_FACTOR_MAX = 5;

type Family = { readonly name: string; readonly medianMs: number; readonly cpu: number; readonly pods: number };

/** Jobs in the order of their arrival. Their interarrival times are exponential, and scaled so that the load is met exactly. */
export function generateJobs({ seed, jobs, queues, clusters }: JobsLoad): readonly PackingJob[] {
  const random = seededRandom(seed);
  const families = Array.from({ length: FAMILIES }, (_, index) => familyOf(index, random));
  const drawn = Array.from({ length: jobs }, (_, index) => {
    const { name: family, medianMs, cpu, pods } = families[Math.floor(random() * FAMILIES)] ?? familyOf(0, random);
    const runMs = Math.ceil(logNormal(medianMs, JOB_SIGMA, random));
    const limitMs = Math.ceil(runMs * (1 + random() * (LIMIT_FACTOR_MAX - 1)));
    const queue = Math.floor(random() * queues);
    return { gap: -Math.log(1 - random()), job: { name: `job-${index}`, queue, family, cpu, pods, runMs, limitMs } };
  });
  const work = drawn.reduce((sum, { job }) => sum + job.cpu * job.runMs, 0);
  const gaps = drawn.reduce((sum, { gap }) => sum + gap, 0);
  const scale = work / (CLUSTER_CPU * clusters * LOAD) / gaps;
  let arrivalMs = 0;
  return drawn.map(({ gap, job }) => {
    arrivalMs += gap * scale;
    return { ...job, arrivalMs: Math.floor(arrivalMs) };
  });
}

function familyOf(index: number, random: Random): Family {
  const large = index < FAMILIES * LARGE_SHARE;
  const sizes = large ? LARGE_CPUS : SMALL_CPUS;
  const cpu = sizes[Math.floor(random() * sizes.length)] ?? 1;
  const podCpu = large && random() < 0.5 ? NODE_CPU / 2 : Math.min(cpu, NODE_CPU);
  return { name: `family-${index}`, medianMs: logNormal(MEDIAN_MS, FAMILY_SIGMA, random), cpu, pods: cpu / podCpu };
}

/** Box and Muller's transform. */
const logNormal = (median: number, sigma: number, random: Random): number =>
  median * Math.exp(sigma * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));
