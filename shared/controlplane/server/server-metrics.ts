import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '../../runtime/clock.ts';
import type { RequestInfo } from '../request/request.ts';
import type { ServedResources } from '../resources/served-resources.ts';
import type { Store } from '../storage/store.ts';

/** What the server counts about itself, under kube-apiserver's names. */
export interface ServerMetrics {
  readonly registry: Registry;
  /** Call when a request comes in; call what it returns when the answer is ready. */
  requestStarted(): (info: RequestInfo | undefined, code: number) => void;
}

/** kube-apiserver's buckets, in seconds. */
const DURATION_BUCKETS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];

export function createServerMetrics(store: Store, resources: ServedResources, clock: Clock): ServerMetrics {
  const registry = new Registry();
  const registers = [registry];
  const labelNames = ['verb', 'group', 'version', 'resource', 'subresource', 'code'] as const;
  const requests = new Counter({
    name: 'apiserver_request_total',
    help: 'Requests by verb, resource and response code.',
    labelNames,
    registers,
  });
  const durations = new Histogram({
    name: 'apiserver_request_duration_seconds',
    help: 'Time from a request to its answer; of a watch, to the beginning of the answer.',
    labelNames: ['verb', 'group', 'version', 'resource', 'subresource'] as const,
    buckets: DURATION_BUCKETS,
    registers,
  });
  new Gauge({
    name: 'apiserver_storage_objects',
    help: 'Stored objects by resource.',
    labelNames: ['resource'] as const,
    registers,
    collect() {
      this.reset();
      for (const name of store.tables()) this.set({ resource: resourceName(name) }, store.table(name).size());
    },
  });
  return {
    registry,
    requestStarted: () => {
      const startedMs = clock.now();
      return (info, code) => {
        const labels = labelsOf(info, resources);
        requests.inc({ ...labels, code });
        durations.observe(labels, (clock.now() - startedMs) / 1000);
      };
    },
  };
}

const VERBS = new Set(['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', 'post', 'put']);
const SUBRESOURCES = new Set(['status', 'scale', 'binding', 'eviction', 'log', 'token', 'finalize']);
const NO_RESOURCE = { verb: '', group: '', version: '', resource: '', subresource: '' };

/** Whatever is not served shares one series: its path is the caller's choice, and callers must not fill our memory. */
function labelsOf(info: RequestInfo | undefined, resources: ServedResources): typeof NO_RESOURCE {
  if (info === undefined) return NO_RESOURCE;
  const { group, version, resource, subresource } = info;
  const verb = VERBS.has(info.verb) ? info.verb.toUpperCase() : 'OTHER';
  if (!info.isResourceRequest || resources.find(group, version, resource) === undefined) return { ...NO_RESOURCE, verb };
  return { verb, group, version, resource, subresource: SUBRESOURCES.has(subresource) ? subresource : '' };
}

/** `batch/jobs` as `jobs.batch`, `/pods` as `pods`. */
function resourceName(table: string): string {
  const [group = '', plural = ''] = table.split('/');
  return group === '' ? plural : `${plural}.${group}`;
}
