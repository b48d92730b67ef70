import { describe, expect, test } from 'vitest';
import { DEFAULT_JOB_RULES } from '../../../../manager/api/job-rules.ts';
import { contentDigest } from '../../../../manager/api/content-digest.ts';
import {
  attachmentsOf,
  configMapOf,
  ownershipOf,
  withAttachments,
  type NamedAttachment,
} from '../../../../manager/submission/attachments.ts';
import { SubmissionRefused } from '../../../../manager/submission/submission-queue.ts';
import { manifestOf } from '../../../../manager/submission/tenant-manifest.ts';
import type { JobManifest } from '../../../../manager/policy/prepare-job.ts';
import { createKinds } from '../../../../manager/work-kind/kinds.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';
import { ATTACHMENTS_ANNOTATION } from '../../../../shared/api/names.ts';
import type { ConfigMap, Job } from '../../../../shared/api/kubernetes.ts';
import { aSubmission, FIRST_MADE } from '../../../support/submissions.ts';
import { testTenant } from '../../../support/submission-source.ts';
import { aCrew, aCrewKind } from '../work-kind/described/described.ts';

const SETTINGS = { name: 'settings', data: { a: '1' } };
const pod = (...names: readonly string[]): object => ({
  restartPolicy: 'Never',
  containers: [{ name: 'main', image: 'busybox', envFrom: names.map((name) => ({ configMapRef: { name } })) }],
  volumes: names.map((name) => ({ name, projected: { sources: [{ configMap: { name, optional: true } }] } })),
});
const job = (spec: object = pod('settings'), annotations: Record<string, string> = {}): object => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { labels: { 'switchyard.dev/queue-name': 'main' }, annotations },
  spec: { template: { spec } },
});
const TEAM = testTenant({ id: 'uid-of-team', label: 'team/batch' });
type Parts = { readonly key?: string; readonly tenant?: typeof TEAM; readonly attempt?: number; readonly payload?: string };
const attemptOf = (data: unknown, { key = 'nightly', tenant = TEAM, attempt = 1, payload = 'p' }: Parts = {}) => ({
  tenant,
  submission: { key, data },
  made: { payload, attempt },
});
const attachments = (parts: Parts = {}): readonly NamedAttachment[] =>
  attachmentsOf(attemptOf({ manifest: job(), attachments: [SETTINGS] }, parts));
const nameOf = (parts: Parts = {}): string => attachments(parts)[0]?.configMap ?? '';
const refusal = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof SubmissionRefused) return error.message;
    throw error;
  }
  return 'taken';
};
const made = (manifest: object, list: readonly object[] = [SETTINGS]): JobManifest =>
  manifestOf(JOB_KIND, TEAM, {
    ...aSubmission({ id: 'nightly', submittedAt: 1_000, name: 'sum', data: { manifest, attachments: list } }),
    made: FIRST_MADE,
  });

describe('the ConfigMap of an attachment', () => {
  test('is named the same at every delivery, and otherwise by every other attempt, payload, key or tenant', () => {
    expect(nameOf()).toMatch(/^settings-[0-9a-f]{12}$/);
    expect(nameOf()).toBe(nameOf());
    const others = [{ key: 'other' }, { attempt: 2 }, { payload: 'q' }, { tenant: testTenant({ id: 'rich' }) }];
    expect(new Set([nameOf(), ...others.map(nameOf)]).size).toBe(5);
  });

  test('is immutable, has the content that was submitted, and is owned by its Job', () => {
    const [settings] = attachments() as [NamedAttachment];
    const owner = { metadata: { namespace: 'team', name: 'sum', uid: 'u' }, spec: {} };
    expect(configMapOf(JOB_KIND, settings, owner)).toEqual({
      metadata: {
        namespace: 'team',
        name: nameOf(),
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'sum', uid: 'u' }],
      },
      data: { a: '1' },
      immutable: true,
    });
    expect(configMapOf(JOB_KIND, settings, { metadata: { namespace: 'team', name: 'sum' }, spec: {} }).metadata).not.toHaveProperty(
      'ownerReferences',
    );
  });

  test('is owned by an object of another kind under its plain name', () => {
    const kinds = createKinds(JOB_KIND, [aCrewKind()]);
    const [settings] = attachments() as [NamedAttachment];
    const owner = { metadata: { namespace: 'team', name: 'crews.example.com:argo', uid: 'u' }, spec: {} };
    expect(configMapOf(kinds, settings, owner).metadata.ownerReferences).toEqual([
      { apiVersion: 'example.com/v1', kind: 'Crew', name: 'argo', uid: 'u' },
    ]);
  });

  test('of a manifest alone is none: its fields are the API server’s to judge', () => {
    expect(attachmentsOf(attemptOf({ ...job(), attachments: [SETTINGS] }))).toEqual([]);
    expect(attachmentsOf(attemptOf('text'))).toEqual([]);
  });
});

describe('the manifest of a submission with attachments', () => {
  test('refers to their ConfigMaps, and says which they are with the digests of their content', () => {
    const manifest = made(job(pod('settings', 'common')));
    const { containers, volumes } = manifest.spec.template.spec ?? {};
    const [settings, common] = (containers?.[0]?.envFrom ?? []).map(({ configMapRef }) => configMapRef?.name);
    expect(settings).toMatch(/^settings-[0-9a-f]{12}$/);
    expect(common).toBe('common');
    expect(volumes?.map(({ projected }) => projected?.sources?.[0]?.configMap?.name)).toEqual([settings, 'common']);
    expect(JSON.parse(manifest.metadata.annotations?.[ATTACHMENTS_ANNOTATION] ?? '')).toEqual({
      [settings ?? '']: contentDigest(SETTINGS),
    });
    expect(JOB_KIND.references(manifest)).toMatchObject([{ name: settings, optional: false, content: contentDigest(SETTINGS) }, {}]);
  });

  test('is one program, whatever the submission', () => {
    const [first, second] = [SETTINGS, { ...SETTINGS, data: { a: '2' } }].map((each) =>
      JOB_KIND.programOf({ ...made(job(), [each]), metadata: made(job(), [each]).metadata } as Job),
    );
    expect(first).toBe(second);
    expect(first).toBe(JOB_KIND.programOf({ metadata: {}, spec: { template: { spec: pod('settings') } } } as unknown as Job));
  });

  test('changes the pods of every template of another kind', () => {
    const kinds = createKinds(JOB_KIND, [aCrewKind()]);
    const crew = aCrew();
    const named = { ...crew, metadata: { ...crew.metadata, name: 'crews.example.com:argo' } };
    const referring = kinds.copies.withReferences(named, () => undefined) as unknown as JobManifest;
    const spec = { ...referring.spec } as unknown as { captain: { spec: object }; groups: { pod: { spec: object } }[] };
    spec.captain = { ...spec.captain, spec: { ...spec.captain.spec, volumes: [{ name: 'v', configMap: { name: 'settings' } }] } };
    spec.groups = spec.groups.map((group) => ({
      ...group,
      pod: { ...group.pod, spec: { ...group.pod.spec, volumes: [{ name: 'v', configMap: { name: 'settings' } }] } },
    }));
    const manifest = withAttachments(kinds, { ...referring, spec } as unknown as JobManifest, attachments());
    expect(kinds.references(manifest)).toEqual([{ kind: 'ConfigMap', name: nameOf(), optional: false, content: contentDigest(SETTINGS) }]);
    expect(JSON.stringify(manifest.spec)).not.toContain('"settings"');
  });

  test.each([
    ['refers to none of them', pod('other')],
    ['has volumes that are null', { ...pod(), volumes: null, initContainers: null }],
    ['has sources that are no list', { ...pod(), volumes: [{ projected: { sources: { configMap: { name: 'settings' } } } }] }],
    ['has environments that are no lists', { containers: [{ name: 'main', env: 'x', envFrom: { configMapRef: { name: 'settings' } } }] }],
    ['has references that are no objects', { containers: [{ name: 'main', env: [{ valueFrom: { configMapKeyRef: 'settings' } }] }] }],
  ])('is refused where it %s', (_what, spec) => {
    expect(refusal(() => made(job(spec)))).toBe(
      'Invalid: attachments[0].name: no pod of the manifest refers to a ConfigMap "settings"; refer to it in a volume, env or envFrom, or leave it out',
    );
  });

  test('may not name ConfigMaps as attachments by itself', () => {
    const forged = { [ATTACHMENTS_ANNOTATION]: '{"of-another":"0"}' };
    expect(refusal(() => made(job(pod('settings'), forged)))).toMatch(
      /^Invalid: metadata\.annotations\[switchyard\.dev\/attachments]: is written by Switchyard only; remove it$/,
    );
  });

  test('is measured with the names that it gets', () => {
    const data = { manifest: job(), attachments: [SETTINGS] };
    const submission = { ...aSubmission({ id: 'nightly', submittedAt: 1_000, name: 'sum', data }), made: FIRST_MADE };
    const bytesMax = JSON.stringify(job()).length;
    expect(refusal(() => manifestOf(JOB_KIND, TEAM, submission, { ...DEFAULT_JOB_RULES, bytesMax }))).toMatch(
      /^Invalid: job: has \d+ bytes/,
    );
  });
});

describe('a ConfigMap that has the name of an attachment already', () => {
  const [settings] = attachments() as [NamedAttachment];
  const wanted = configMapOf(JOB_KIND, settings, { metadata: { namespace: 'team', name: 'sum', uid: 'u' }, spec: {} });
  const [owner] = wanted.metadata.ownerReferences ?? [];
  const found = (parts: object = {}, metadata: object = {}): ConfigMap =>
    ({ ...wanted, ...parts, metadata: { ...wanted.metadata, resourceVersion: '1', ...metadata } }) as ConfigMap;

  test.each([
    ['what an earlier delivery made', found(), 'Ours'],
    ['that, with another owner beside', found({}, { ownerReferences: [{ ...owner, uid: 'other' }, owner] }), 'Ours'],
    ['that, while it is deleted', found({}, { deletionTimestamp: '2026-01-01T00:00:00Z' }), 'Leaving'],
    ['of an earlier Job of this name', found({ data: { a: '2' } }, { ownerReferences: [{ ...owner, uid: 'earlier' }] }), 'Leaving'],
    ['of another Job', found({}, { ownerReferences: [{ ...owner, name: 'other', uid: 'other' }] }), 'Foreign'],
    [
      'of an earlier Job and of another',
      found(
        {},
        {
          ownerReferences: [
            { ...owner, uid: 'e' },
            { ...owner, name: 'x', uid: 'x' },
          ],
        },
      ),
      'Foreign',
    ],
    ['of nobody', found({}, { ownerReferences: undefined }), 'Foreign'],
    ['of other content, with a forged owner', found({ data: { a: 'rm -rf' } }), 'Foreign'],
    ['with more content', found({ binaryData: { b: 'AA==' } }), 'Foreign'],
    ['that may still be changed', found({ immutable: false }), 'Foreign'],
  ])('%s is %s', (_what, object, standing) => {
    expect(ownershipOf(object, wanted)).toBe(standing);
  });
});
