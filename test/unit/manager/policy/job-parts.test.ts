import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { JOB_PARTS, NAMED_PARTS, SWITCHYARDS_NAMES, travelsToCopy, WRITE_RULES } from '../../../../manager/policy/job-parts.ts';
import { partsTable } from '../../../../manager/policy/parts-table.ts';
import { fieldOf, hasName, JOB_WORDS, problemsOf, reservedName } from '../../../../manager/policy/write-rule.ts';
import { viewOf } from '../../../../manager/policy/job-write.ts';
import { POLICY_FILE, policyFile, SECURITY_FILE, securityDocument } from '../../../../scripts/generate-job-policy.ts';
import * as names from '../../../../shared/api/names.ts';
import { aHomeJob } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

describe('the table', () => {
  test('has a row for every name of ours that a Job may bear', () => {
    const elsewhere = [
      names.MANAGER_CONTROLLER_NAME,
      names.WORKER_CONTROLLER_NAME,
      names.WORKER_CLUSTER_FINALIZER,
      // Of pods, and of nodes.
      names.SIMULATE_DURATION_ANNOTATION,
      names.SIMULATE_EXIT_CODE_ANNOTATION,
      names.SIMULATE_FAILURE_RATE_ANNOTATION,
      names.SIMULATE_NODE_LOSS_ANNOTATION,
      names.POD_FENCE_RENEWAL_ANNOTATION,
      // Of the Secret with the key of records.
      names.MANAGER_ID_ANNOTATION,
      // Of Leases on worker clusters.
      names.RECONCILED_ANNOTATION,
      names.HOME_VERSION_ANNOTATION,
      names.CONTROLLER_NAME_ANNOTATION,
      names.VERSION_ANNOTATION,
      names.FENCE_AFTER_ANNOTATION,
      names.FENCE_TOKEN_ANNOTATION,
      names.RENEWALS_SEEN_ANNOTATION,
      names.RESTORES_SEEN_ANNOTATION,
      names.KINDS_ANNOTATION,
      names.FENCED_KINDS_ANNOTATION,
      // Of objects of described kinds.
      names.STATUS_ANNOTATION,
      // Of pods.
      names.POD_FENCE_RENEWAL_ANNOTATION,
      // Of ConfigMaps on the manager cluster.
      names.LEDGER_LABEL,
      // Of ConfigMaps on worker clusters.
      names.LOG_TAILS_LABEL,
      names.LOG_TAILS_JOB_NAMESPACE_LABEL,
      names.LOG_TAILS_JOB_NAME_LABEL,
      names.LOG_TAILS_KIND_ANNOTATION,
    ];
    const ours = Object.values(names).filter((name) => name.startsWith(`${names.SWITCHYARD_GROUP}/`) && !elsewhere.includes(name));
    expect(ours.filter((name) => !NAMED_PARTS.some((part) => part.name === name))).toEqual([]);
  });

  test('names each part once, and lets nobody write what is Switchyard’s own', () => {
    const all = JOB_PARTS.map(({ part }) => `${part.place} ${part.name}`);
    expect(new Set(all).size).toBe(all.length);
    expect(JOB_PARTS.filter(({ owner, rules }) => owner === 'Switchyard' && rules.length === 0)).toEqual([]);
    expect(new Set(WRITE_RULES).size).toBe(WRITE_RULES.length);
  });

  test('is what the chart and the documentation have', () => {
    expect(readFileSync(POLICY_FILE, 'utf8'), 'run node scripts/generate-job-policy.ts').toBe(policyFile());
    const document = readFileSync(SECURITY_FILE, 'utf8');
    expect(document, 'run node scripts/generate-job-policy.ts').toBe(securityDocument(document));
    expect(document).toContain(partsTable());
    expect(() => securityDocument('# Security')).toThrow(/has no lines "<!-- who may write what/);
  });

  test('tells people about each part, under whose it is', () => {
    const text = partsTable();
    expect(JOB_PARTS.map(({ part }) => part.name).filter((name) => !text.includes(name))).toEqual([]);
    expect(JOB_PARTS.filter(({ owner, says }) => owner !== 'user' && says === '')).toEqual([]);
    expect(partsTable()).toContain('- annotation `switchyard.dev/admission`: The admission record.');
    // The heading of Switchyard's parts says that the policy holds them, that of users' parts that none does.
    const held = JOB_PARTS.filter(({ owner, rules }) => owner !== 'both' && (owner === 'user') === rules.length > 0);
    expect(held.map(({ part }) => part.name)).toEqual([]);
  });
});

describe('what travels to a copy', () => {
  test('is every name but ours and the queue, and of ours what the worker heeds', () => {
    expect(NAMED_PARTS.filter(({ name }) => travelsToCopy(name)).map(({ name }) => name)).toEqual([names.KEEP_LOGS_LABEL]);
    expect(travelsToCopy(`${names.SWITCHYARD_GROUP}/whatever-comes-next`)).toBe(false);
    expect(travelsToCopy(names.KUEUE_QUEUE_NAME_LABEL)).toBe(false);
    expect(travelsToCopy('kueue.x-k8s.io/other')).toBe(true);
    expect(travelsToCopy('switchyard.development/x')).toBe(true);
  });
});

describe('a name of ours', () => {
  test.each(SWITCHYARDS_NAMES)('$place $name is neither given, nor changed, nor taken away', ({ place, name }) => {
    const bare = aHomeJob();
    const bearing = (value: string) =>
      aHomeJob({
        metadata: place === 'finalizers' ? { finalizers: [name] } : { [place]: { ...aHomeJob().metadata[place], [name]: value } },
      });
    const rule = reservedName(place, name);
    const breaks = (oldJob: typeof bare | undefined, job: typeof bare): string[] =>
      problemsOf([rule], JOB_WORDS, viewOf(JOB_KIND, { subresource: '', job, oldJob, writer: 'User', username: 'ann' })).map(
        ({ field }) => field,
      );
    expect(hasName(bearing('a'), place, name)).toBe(true);
    expect(hasName(bare, place, name)).toBe(false);
    expect(breaks(undefined, bearing('a'))).toEqual([fieldOf(place, name)]);
    expect(breaks(bare, bearing(''))).toEqual([fieldOf(place, name)]);
    expect(breaks(bearing('a'), bare)).toEqual([fieldOf(place, name)]);
    expect(breaks(bearing('a'), bearing('b'))).toEqual(place === 'finalizers' ? [] : [fieldOf(place, name)]);
    expect(breaks(bearing('a'), bearing('a'))).toEqual([]);
    expect(breaks(undefined, bare)).toEqual([]);
  });

  test('is not looked for in what is no list or map: a submitted manifest may have anything there', () => {
    const odd = { metadata: { finalizers: names.COPIES_FINALIZER, annotations: null } } as never;
    expect(hasName(odd, 'finalizers', names.COPIES_FINALIZER)).toBe(false);
    expect(hasName(odd, 'annotations', names.ADMISSION_ANNOTATION)).toBe(false);
    expect(hasName({ metadata: { labels: {} } }, 'labels', 'toString')).toBe(false);
  });
});
