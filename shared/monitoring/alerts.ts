import type { Alert } from './alert.ts';
import { CLUSTER_ALERTS } from './cluster-alerts.ts';
import { INTAKE_ALERTS } from './intake-alerts.ts';
import { PROGRAM_ALERTS } from './program-alerts.ts';
import { PROMISE_ALERTS } from './promise-alerts.ts';
import { QUEUE_ALERTS } from './queue-alerts.ts';

/** Every alert: of these come the PrometheusRules of the charts, the rules of the quick start and the list of runbooks. */
export const ALERTS: readonly Alert[] = [...QUEUE_ALERTS, ...CLUSTER_ALERTS, ...INTAKE_ALERTS, ...PROGRAM_ALERTS, ...PROMISE_ALERTS];
