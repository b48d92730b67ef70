import { Gauge, type Registry } from 'prom-client';

export type IdentityMetrics = ReturnType<typeof createIdentityMetrics>;

/** Registers the metrics of the manager's user. Call once for each registry: a second call throws. */
export function createIdentityMetrics(registers: Registry[]) {
  return {
    shared: new Gauge({
      name: 'switchyard_manager_identity_shared',
      help: '1 when others use the user of the manager, or it has the rights of an administrator, else 0.',
      registers,
    }),
  };
}
