import { parseDurationMs } from '../../api/duration.ts';
import { isJsonObject } from '../../api/json-value.ts';
import { isConfiguration, type Manifest } from './documents.ts';
import type { Finding } from './findings.ts';

/** The counterpart of a setting of Kueue's configuration; undefined: the requested behaviour is the only one here. */
type Answer = Pick<Finding, 'kind' | 'says'> | undefined;

const lost = (says: string): Answer => ({ kind: 'Lost', says });
const note = (says: string): Answer => ({ kind: 'Note', says });
const flag = (name: string, value?: string): Answer =>
  note(`run the manager with --${name}${value === undefined ? '' : `=${value}`} (the chart has its flags under config)`);
/** A setting of all queues there, of each queue here. */
const ofQueues = (field: string): Answer =>
  note(`is spec.${field} of a ClusterQueue here; it is written to those that are read along with this configuration`);
const isDuration = (value: unknown): boolean => typeof value === 'string' && parseDurationMs(value) !== undefined;
const NO_DURATION = lost('is no duration in hours, minutes and seconds, such as 1h30m; write one');
const OF_THE_PROCESS = note('is a matter of the manager as a process; see the values of the chart switchyard-manager');

/** Counterparts of settings, by path. */
const SETTINGS: Readonly<Record<string, (value: unknown) => Answer>> = {
  'waitForPodsReady.enable': () => undefined,
  'waitForPodsReady.timeout': (value) => (isDuration(value) ? ofQueues('startTimeout') : NO_DURATION),
  'waitForPodsReady.recoveryTimeout': (value) => (isDuration(value) ? ofQueues('recoveryTimeout') : NO_DURATION),
  'waitForPodsReady.blockAdmission': (value) =>
    value === true
      ? note('is spec.blockAdmission of a ClusterQueue here, where each queue waits for its own Jobs; Kueue waits for those of all queues')
      : undefined,
  'waitForPodsReady.requeuingStrategy.timestamp': (value) => flag('requeuing-timestamp', String(value)),
  'waitForPodsReady.requeuingStrategy.backoffLimitCount': () =>
    lost('a Job that does not start is not deactivated; see spec.maxMoves and spec.onCannotStart of ClusterQueues'),
  'waitForPodsReady.requeuingStrategy.backoffBaseSeconds': () => lost('a cluster is avoided for a minute, and twice as long each time'),
  'waitForPodsReady.requeuingStrategy.backoffMaxSeconds': () => lost('a cluster is avoided for a minute, and twice as long each time'),
  // Only v1beta1 has a field that switches it on.
  fairSharing: (value) => {
    const { enable, preemptionStrategies } = isJsonObject(value) ? value : {};
    const strategies = listOf(preemptionStrategies);
    if (enable === false) return undefined;
    return strategies === '' ? flag('fair-sharing') : flag('fair-sharing --fair-sharing-preemption-strategies', strategies);
  },
  'admissionFairSharing.usageHalfLifeTime': (value) => flag('admission-fair-sharing-half-life', String(value)),
  'admissionFairSharing.usageSamplingInterval': (value) => flag('admission-fair-sharing-sampling-interval', String(value)),
  'admissionFairSharing.resourceWeights': (value) =>
    flag(
      'admission-fair-sharing-resource-weights',
      entriesOf(value)
        .map(([resource, weight]) => `${resource}=${String(weight)}`)
        .join(),
    ),
  'resources.excludeResourcePrefixes': (value) => (listOf(value) === '' ? undefined : ofQueues('excludeResourcePrefixes')),
  'resources.quotaCheckStrategy': () => ofQueues('quotaCheckStrategy'),
  'resources.transformations': (value) => (Array.isArray(value) && value.length === 0 ? undefined : ofQueues('resourceTransformations')),
  'resources.deviceClassMappings': () =>
    lost('no quota counts device claims; the flag --resource-claims decides about Jobs that have some'),
  manageJobsWithoutQueueName: (value) =>
    value === true
      ? note(
          'choose the namespaces by webhook.managedNamespaceSelector of the chart switchyard-manager: Jobs without a queue label go to the LocalQueue default there, and wait where there is none',
        )
      : undefined,
  managedJobsNamespaceSelector: (value) =>
    note(
      `set webhook.managedNamespaceSelector of the chart switchyard-manager to ${JSON.stringify(value)}: it chooses whose Jobs without a queue label are managed. Jobs with the label are managed in every namespace but those of --denied-namespaces`,
    ),
  'integrations.frameworks': (value) => {
    const others = (Array.isArray(value) ? value : []).filter((framework) => framework !== 'batch/job');
    return others.length === 0 ? undefined : lost(`only batch/job is dispatched, not ${others.join(', ')}`);
  },
  'integrations.externalFrameworks': () => lost('only batch/job is dispatched'),
  'integrations.podOptions': () => lost('pods are not queued by themselves'),
  'integrations.labelKeysToCopy': () => undefined,
  'multiKueue.workerLostTimeout': (value) => flag('worker-lost-timeout', String(value)),
  'multiKueue.origin': (value) => flag('manager-id', String(value)),
  'multiKueue.gcInterval': () => undefined,
  'multiKueue.dispatcherName': () => note('the manager itself picks the cluster, once for each admission'),
  'multiKueue.externalFrameworks': () => lost('only batch/job is dispatched'),
  objectRetentionPolicies: () => note('there are no Workloads to delete; Jobs have ttlSecondsAfterFinished'),
  'clientConnection.qps': (value) => flag('kube-api-qps', String(value)),
  'clientConnection.burst': (value) => flag('kube-api-burst', String(value)),
  featureGates: (value) =>
    lost(
      `Switchyard has no feature gates (${entriesOf(value)
        .map(([gate]) => gate)
        .join(', ')}); what it does is always on`,
    ),
  ...Object.fromEntries(
    ['namespace', 'webhook', 'leaderElection', 'metrics', 'health', 'controller', 'internalCertManagement', 'pprofBindAddress', 'tls'].map(
      (path) => [path, () => OF_THE_PROCESS],
    ),
  ),
};

/** Counterparts of the settings of a configuration, in its order. Settings that are not known are lost. */
export function configurationFindings({ kind: object, fields }: Manifest): Finding[] {
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...settings } = fields;
  const off = isJsonObject(settings['waitForPodsReady']) && settings['waitForPodsReady']['enable'] === false;
  return findingsIn(off ? { ...settings, waitForPodsReady: {} } : settings, '', object);
}

function findingsIn(settings: Readonly<Record<string, unknown>>, above: string, object: string): Finding[] {
  return Object.entries(settings).flatMap(([name, value]): Finding[] => {
    const path = `${above}${name}`;
    if (value === null || value === undefined) return [];
    const answer = Object.hasOwn(SETTINGS, path) ? SETTINGS[path] : undefined;
    if (answer !== undefined) {
      const told = answer(value);
      return told === undefined ? [] : [{ ...told, object, field: path }];
    }
    if (isJsonObject(value) && Object.keys(SETTINGS).some((known) => known.startsWith(`${path}.`)))
      return findingsIn(value, `${path}.`, object);
    return [{ kind: 'Lost', object, field: path, says: 'Switchyard has no such setting' }];
  });
}

/** Settings of the configurations for all queues, as fields of a ClusterQueue. */
export function queueDefaults(manifests: readonly Manifest[]): Readonly<Record<string, unknown>> {
  return manifests.filter(isConfiguration).reduce<Record<string, unknown>>((all, { fields }) => {
    const waits = isJsonObject(fields['waitForPodsReady']) ? fields['waitForPodsReady'] : {};
    const { timeout, recoveryTimeout, blockAdmission } = waits['enable'] === false ? {} : waits;
    const {
      quotaCheckStrategy,
      excludeResourcePrefixes,
      transformations: resourceTransformations,
    } = isJsonObject(fields['resources']) ? fields['resources'] : {};
    const times = Object.entries({ startTimeout: timeout, recoveryTimeout }).filter(([, value]) => isDuration(value));
    const ofResources = Object.entries({ quotaCheckStrategy, excludeResourcePrefixes, resourceTransformations }).filter(
      ([, value]) => (value ?? undefined) !== undefined,
    );
    return { ...all, ...Object.fromEntries([...times, ...ofResources]), ...(blockAdmission === true ? { blockAdmission } : {}) };
  }, {});
}

const listOf = (value: unknown): string => (Array.isArray(value) ? value.join() : '');
const entriesOf = (value: unknown): [string, unknown][] => (isJsonObject(value) ? Object.entries(value) : []);
