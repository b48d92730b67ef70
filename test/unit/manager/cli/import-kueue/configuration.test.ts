import { describe, expect, test } from 'vitest';
import { configurationFindings, queueDefaults } from '../../../../../manager/cli/import-kueue/configuration.ts';
import { readManifests } from '../../../../../manager/cli/import-kueue/documents.ts';

const read = (settings: object) =>
  readManifests('a', JSON.stringify({ apiVersion: 'config.kueue.x-k8s.io/v1beta2', kind: 'Configuration', ...settings }));
const found = (settings: object): string[] =>
  read(settings).flatMap((each) => configurationFindings(each).map(({ kind, field, says }) => `${kind} ${field}: ${says}`));

describe('of a configuration of Kueue', () => {
  test.each<[object, readonly RegExp[]]>([
    [{ fairSharing: {} }, [/^Note fairSharing: run the manager with --fair-sharing /]],
    [{ fairSharing: { enable: false, preemptionStrategies: ['LessThanInitialShare'] } }, []],
    [
      { fairSharing: { enable: true, preemptionStrategies: ['LessThanOrEqualToFinalShare', 'LessThanInitialShare'] } },
      [/--fair-sharing --fair-sharing-preemption-strategies=LessThanOrEqualToFinalShare,LessThanInitialShare /],
    ],
    [
      { admissionFairSharing: { usageHalfLifeTime: '168h', resourceWeights: { cpu: 2, memory: 1 } } },
      [/--admission-fair-sharing-half-life=168h /, /--admission-fair-sharing-resource-weights=cpu=2,memory=1 /],
    ],
    [
      { waitForPodsReady: { timeout: '5m', blockAdmission: true, requeuingStrategy: { timestamp: 'Creation', backoffLimitCount: 3 } } },
      [
        /^Note waitForPodsReady.timeout: is spec.startTimeout of a ClusterQueue here/,
        /^Note waitForPodsReady.blockAdmission: is spec.blockAdmission of a ClusterQueue here/,
        /^Note waitForPodsReady.requeuingStrategy.timestamp: run the manager with --requeuing-timestamp=Creation /,
        /^Lost waitForPodsReady.requeuingStrategy.backoffLimitCount: .*maxMoves/,
      ],
    ],
    [{ waitForPodsReady: { enable: false, timeout: '5m' } }, []],
    [{ waitForPodsReady: { timeout: '1.5h' } }, [/^Lost waitForPodsReady.timeout: is no duration/]],
    [
      { resources: { excludeResourcePrefixes: ['a.example/'], transformations: [{ input: 'x' }], quotaCheckStrategy: 'IgnoreUndeclared' } },
      [
        /^Note resources.excludeResourcePrefixes: /,
        /^Note resources.transformations: is spec.resourceTransformations of a ClusterQueue/,
        /^Note resources.quotaCheckStrategy: /,
      ],
    ],
    [{ manageJobsWithoutQueueName: false, integrations: { frameworks: ['batch/job'] } }, []],
    [
      { manageJobsWithoutQueueName: true, managedJobsNamespaceSelector: {}, integrations: { frameworks: ['batch/job', 'pod'] } },
      [
        /^Note manageJobsWithoutQueueName: .*webhook.managedNamespaceSelector/,
        /^Note managedJobsNamespaceSelector: .* to \{\}: /,
        /only batch\/job is dispatched, not pod$/,
      ],
    ],
    [{ webhook: { port: 9443 }, featureGates: { TopologyAwareScheduling: true } }, [/^Note webhook: /, /^Lost featureGates: .*Topology/]],
    [{ multiKueue: { workerLostTimeout: '10m', gcInterval: '1m' } }, [/--worker-lost-timeout=10m /]],
    [{ brandNew: { a: 1 }, resources: { other: 1 } }, [/^Lost brandNew: Switchyard has no such setting$/, /^Lost resources.other: /]],
    [{ metrics: null }, []],
  ])('%j it is told what becomes of each setting', (settings, patterns) => {
    expect(found(settings)).toEqual(patterns.map((pattern) => expect.stringMatching(pattern) as string));
  });

  test('what it says of all queues are fields of each', () => {
    const waitForPodsReady = { timeout: '5m', recoveryTimeout: '3m', blockAdmission: true };
    const resources = { quotaCheckStrategy: 'IgnoreUndeclared', excludeResourcePrefixes: ['a/'] };
    expect(queueDefaults(read({ waitForPodsReady, resources }))).toEqual({
      startTimeout: '5m',
      recoveryTimeout: '3m',
      blockAdmission: true,
      ...resources,
    });
    const transformations = [{ input: 'a/gpu', strategy: 'Replace', outputs: { credits: 3 } }];
    expect(queueDefaults(read({ resources: { transformations } }))).toEqual({ resourceTransformations: transformations });
    expect(queueDefaults(read({ waitForPodsReady: { ...waitForPodsReady, enable: false } }))).toEqual({});
    expect(queueDefaults(read({ waitForPodsReady: { timeout: '1.5h', recoveryTimeout: null } }))).toEqual({});
    expect(queueDefaults([])).toEqual({});
  });
});
