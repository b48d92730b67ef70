import { expect, test } from 'vitest';
import { untilEmpty } from '../../../../../manager/cli/clusters/set-state.ts';
import type { Session } from '../../../../../manager/cli/session.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import { CLUSTER_LABEL } from '../../../../../shared/api/names.ts';
import type { Job, Unsaved } from '../../../../../shared/api/kubernetes.ts';
import { JOBS } from '../../../../../shared/api/resources.ts';
import { omitUndefined } from '../../../../../shared/runtime/omit-undefined.ts';
import { systemClock } from '../../../../../shared/runtime/clock.ts';
import { startCluster } from '../../../../support/embedded-cluster.ts';
import { anAdmittedJob } from '../../../../support/jobs.ts';

const aJobOn = (cluster: string, name: string): Unsaved<Job> => {
  const { metadata, spec } = anAdmittedJob({ metadata: { name, namespace: 'default', labels: { [CLUSTER_LABEL]: cluster } } }, { cluster });
  const { namespace, labels = {}, annotations = {} } = metadata;
  const { selector: _, template, ...rest } = spec;
  return { metadata: { name, namespace, labels, annotations }, spec: { ...rest, template: omitUndefined({ spec: template.spec }) } };
};

test('a cluster that is being drained is empty when the last Job has left, whichever came while the others left', async () => {
  const { client, plane } = await startCluster(systemClock, []);
  const gone = (name: string) => client.delete(JOBS, { namespace: 'default', name }, { propagationPolicy: 'Background' });
  for (const name of ['a', 'b']) await client.create(JOBS, aJobOn('eu', name));
  await client.create(JOBS, aJobOn('us', 'elsewhere'));
  const told: string[] = [];
  /** What happens when this is told. */
  const then: Readonly<Record<string, () => Promise<unknown>>> = {
    '2 Jobs are placed there': async () => {
      await client.create(JOBS, aJobOn('eu', 'late'));
      await gone('a');
    },
    'default/a has left, 2 to go': () => gone('b'),
    'default/b has left, 1 to go': () => gone('late'),
  };
  const enough = new AbortController();
  const session = {
    errors: {
      isTerminal: false,
      width: 80,
      async write(text: string) {
        told.push(text.trim());
        const next = then[text.trim()];
        // Nothing more happens.
        if (next === undefined) enough.abort();
        else await next();
      },
    },
    now: () => systemClock.now(),
  } as unknown as Session;
  let done = 0;
  await untilEmpty({ client, kind: JOB_KIND }, ['eu'], session, enough.signal, () => {
    done++;
    enough.abort();
  });
  expect(told).toEqual([...Object.keys(then), 'default/late has left, 0 to go']);
  expect(done).toBe(1);
  await plane.close();
});

test('a cluster without Jobs is empty at once', async () => {
  const { client, plane } = await startCluster(systemClock, []);
  let done = 0;
  const errors = { isTerminal: false, width: 80, write: async () => undefined };
  const session = { errors, now: () => 0 } as unknown as Session;
  await untilEmpty({ client, kind: JOB_KIND }, ['eu'], session, new AbortController().signal, () => void done++);
  expect(done).toBe(1);
  await plane.close();
});
