import { Counter, Gauge, type Registry } from 'prom-client';
import type { HealthCheck } from './http-server.ts';

/** What every program tells of itself. */
export interface ProgramMetrics {
  /** It leads from now on, or no longer does. */
  leads(isLeader: boolean): void;
}

export type ProgramMetricsOptions = {
  readonly version: string;
  /** Of Node, as `process.version`. */
  readonly nodeVersion: string;
  /** The lines of /readyz, by name: asked at each scrape. */
  readonly checks: Readonly<Record<string, HealthCheck>>;
};

/**
 * Registers them: `switchyard_build_info`, `switchyard_leader`, `switchyard_leader_transitions_total` and `switchyard_check_ok`. Call once
 * for a registry.
 */
export function createProgramMetrics(registry: Registry, { version, nodeVersion, checks }: ProgramMetricsOptions): ProgramMetrics {
  const registers = [registry];
  new Gauge({
    name: 'switchyard_build_info',
    help: 'Always 1: the version of the program, and of the Node that runs it.',
    labelNames: ['version', 'node_version'],
    registers,
  }).set({ version, node_version: nodeVersion }, 1);
  const leader = new Gauge({
    name: 'switchyard_leader',
    help: '1 where this process leads, else 0.',
    registers,
  });
  const transitions = new Counter({
    name: 'switchyard_leader_transitions_total',
    help: 'Times this process has begun to lead.',
    registers,
  });
  new Gauge({
    name: 'switchyard_check_ok',
    help: '1 where a check of /readyz finds nothing wrong, else 0.',
    labelNames: ['check'],
    registers,
    collect() {
      for (const [check, look] of Object.entries(checks)) this.set({ check }, look() === undefined ? 1 : 0);
    },
  });
  leader.set(0);
  let leads = false;
  return {
    leads(isLeader) {
      if (isLeader && !leads) transitions.inc();
      leads = isLeader;
      leader.set(isLeader ? 1 : 0);
    },
  };
}
