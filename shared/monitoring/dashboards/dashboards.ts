import { CLUSTERS } from './clusters.ts';
import type { Dashboard } from './dashboard.ts';
import { INTAKE } from './intake.ts';
import { JOB_CONTROLLER } from './job-controller.ts';
import { OVERVIEW } from './overview.ts';
import { QUEUES } from './queues.ts';
import { SLO } from './slo.ts';

/** Every dashboard, in the order in which one looks at them. */
export const DASHBOARDS: readonly Dashboard[] = [OVERVIEW, QUEUES, CLUSTERS, INTAKE, JOB_CONTROLLER, SLO];
