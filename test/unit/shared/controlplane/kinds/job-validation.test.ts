import { describe, expect, test } from 'vitest';
import type { DecodedJob, DecodedJobSpec, DecodedJobStatus } from '../../../../../shared/controlplane/kinds/decoded.ts';
import { applyJobDefaults, copyTemplateLabels } from '../../../../../shared/controlplane/kinds/job-defaults.ts';
import { validatePodFailurePolicy, validateSuccessPolicy } from '../../../../../shared/controlplane/kinds/job-policy-validation.ts';
import { isConditionTrue, validateJobStatusUpdate } from '../../../../../shared/controlplane/kinds/job-status-validation.ts';
import { validateJobUpdate } from '../../../../../shared/controlplane/kinds/job-update-validation.ts';
import { validateJob, validateJobSpecWithoutSelector } from '../../../../../shared/controlplane/kinds/job-validation.ts';
import { jobWarnings } from '../../../../../shared/controlplane/kinds/job-warnings.ts';
import { anObject } from '../a-served-resource.ts';
import { aContainer, told } from './findings.ts';

const labels = {
  'controller-uid': 'uid-j',
  'job-name': 'j',
  'batch.kubernetes.io/controller-uid': 'uid-j',
  'batch.kubernetes.io/job-name': 'j',
};
const aSpec = (parts: DecodedJobSpec = {}): DecodedJobSpec => ({
  selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'uid-j' } },
  template: {
    metadata: { labels },
    spec: { containers: [aContainer()], restartPolicy: 'Never', dnsPolicy: 'ClusterFirst', terminationGracePeriodSeconds: 30 },
  },
  completions: 1,
  parallelism: 1,
  ...parts,
});
const aJob = (spec: DecodedJobSpec = {}, status?: DecodedJobStatus, name = 'j'): DecodedJob =>
  anObject(name, { spec: aSpec(spec), ...(status === undefined ? {} : { status }) }, { uid: 'uid-j' }) as DecodedJob;
const restarting = (restartPolicy: string): DecodedJobSpec => ({
  template: { ...aSpec().template, spec: { ...aSpec().template?.spec, restartPolicy } },
});

describe('a new Job', () => {
  const judged = (spec: DecodedJobSpec = {}, name = 'j') => told(validateJob(aJob(spec, undefined, name), { requirePrefixedLabels: true }));
  test('as the server makes it is right', () => {
    expect(judged()).toEqual([]);
    expect(
      judged({ completionMode: 'Indexed', completions: 5, backoffLimitPerIndex: 1, maxFailedIndexes: 5, managedBy: 'example.com/x' }),
    ).toEqual([]);
  });

  test.each<[DecodedJobSpec, string[]]>([
    [{ parallelism: -1 }, ['spec.parallelism | Invalid value: -1: must be greater than or equal to 0']],
    [
      { maxFailedIndexes: 1, completionMode: 'Indexed' },
      ['spec.backoffLimitPerIndex | Required value: when maxFailedIndexes is specified'],
    ],
    [{ backoffLimitPerIndex: 1 }, ['spec.backoffLimitPerIndex | Invalid value: 1: requires indexed completion mode']],
    [{ completionMode: 'Random' }, ['spec.completionMode | Unsupported value: "Random": supported values: "NonIndexed", "Indexed"']],
    [{ completionMode: 'Indexed', completions: undefined }, ['spec.completions | Required value: when completion mode is Indexed']],
    [
      { completionMode: 'Indexed', completions: 1, backoffLimitPerIndex: 1, maxFailedIndexes: 2 },
      ['spec.maxFailedIndexes | Invalid value: 2: must be less than or equal to completions'],
    ],
    [
      { completionMode: 'Indexed', parallelism: 100_001 },
      ['spec.parallelism | Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed'],
    ],
    [
      { completionMode: 'Indexed', completions: 100_001, backoffLimitPerIndex: 1 },
      ['spec.maxFailedIndexes | Required value: must be specified when completions is above 100000'],
    ],
    [{ managedBy: '' }, ['spec.managedBy | Required value']],
    [{ managedBy: 'me' }, ['spec.managedBy | Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")']],
    [
      { podReplacementPolicy: 'Never' },
      ['spec.podReplacementPolicy | Unsupported value: "Never": supported values: "Failed", "TerminatingOrFailed"'],
    ],
    [
      { successPolicy: { rules: [{ succeededCount: 1 }] } },
      [expect.stringMatching(/^spec\.successPolicy \| .*: requires indexed completion mode$/) as string],
    ],
    [restarting('Always'), ['spec.template.spec.restartPolicy | Required value: valid values: "OnFailure", "Never"']],
    [
      { ...restarting('OnFailure'), podFailurePolicy: { rules: [] }, podReplacementPolicy: 'Failed' },
      ['spec.template.spec.restartPolicy | Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified'],
    ],
  ])('with %j', (spec, findings) => {
    expect(judged(spec)).toEqual(findings);
  });

  test('without a selector selects nothing, not even its own pods', () => {
    expect(judged({ selector: undefined })).toEqual([
      'spec.selector | Required value',
      expect.stringMatching(/^spec\.template\.metadata\.labels \| .*: `selector` does not match template `labels`$/),
    ]);
  });

  test('has a selector that the server made, unless it says otherwise', () => {
    const selector = { matchLabels: { app: 'x' } };
    expect(judged({ selector })).toEqual([
      'spec.selector | Invalid value: {"matchLabels":{"app":"x"}}: `selector` not auto-generated',
      expect.stringMatching(/^spec\.template\.metadata\.labels \| .*: `selector` does not match template `labels`$/),
    ]);
    const template = { ...aSpec().template, metadata: { labels: { app: 'x' } } };
    expect(judged({ selector, template, manualSelector: true })).toEqual([]);
    expect(judged({ template: { ...template, metadata: { labels: { ...labels, 'job-name': 'k' } } } })[0]).toMatch(
      /^spec\.template\.metadata\.labels\[job-name\] \| Invalid value: .*: must be 'j'$/,
    );
  });

  test('of before the prefixed labels may lack them', () => {
    const legacy = { 'controller-uid': 'uid-j', 'job-name': 'j' };
    const job = aJob({
      selector: { matchLabels: { 'controller-uid': 'uid-j' } },
      template: { ...aSpec().template, metadata: { labels: legacy } },
    });
    expect(told(validateJob(job, { requirePrefixedLabels: false }))).toEqual([]);
    expect(told(validateJob(job, { requirePrefixedLabels: true }))).toHaveLength(2);
  });

  test('whose indexes would make no hostnames is refused', () => {
    const long = 'j'.repeat(62);
    const job = aJob(
      { completionMode: 'Indexed', completions: 11, manualSelector: true, selector: { matchLabels: { 'job-name': 'j' } } },
      undefined,
      long,
    );
    expect(told(validateJob(job, { requirePrefixedLabels: true }))).toEqual([
      `metadata.name | Invalid value: "${long}": will not able to create pod with invalid DNS label: ${long}-10`,
    ]);
  });

  test('that is only a template is not asked for a selector', () => {
    const { selector: _selector, ...spec } = aSpec();
    expect(told(validateJobSpecWithoutSelector(spec, 's'))).toEqual([]);
  });
});

describe('a policy of failures', () => {
  type Rule = NonNullable<NonNullable<DecodedJobSpec['podFailurePolicy']>['rules']>[number];
  const judged = (rules: Rule[], spec: DecodedJobSpec = {}) =>
    told(validatePodFailurePolicy(aSpec({ ...spec, podFailurePolicy: { rules } }), 'p'));
  const onExitCodes = (parts: object = {}): Rule => ({ action: 'FailJob', onExitCodes: { operator: 'In', values: [1], ...parts } });
  test.each<[Rule, string[]]>([
    [onExitCodes(), []],
    [onExitCodes({ operator: 'NotIn', values: [0, 1], containerName: 'c' }), []],
    [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }, []],
    [{ ...onExitCodes(), action: '' }, ['p.rules[0].action | Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]']],
    [
      { ...onExitCodes(), action: 'FailIndex' },
      ['p.rules[0].action | Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set'],
    ],
    [{ action: 'FailJob' }, ['p.rules[0] | Invalid value: specifying one of OnExitCodes and OnPodConditions is required']],
    [
      { ...onExitCodes(), onPodConditions: [{ type: 'a', status: 'True' }] },
      ['p.rules[0] | Invalid value: specifying both OnExitCodes and OnPodConditions is not supported'],
    ],
    [onExitCodes({ values: [] }), ['p.rules[0].onExitCodes.values | Invalid value: []: at least one value is required']],
    [onExitCodes({ values: [0] }), ['p.rules[0].onExitCodes.values[0] | Invalid value: 0: must not be 0 for the In operator']],
    [onExitCodes({ values: [2, 1] }), ['p.rules[0].onExitCodes.values | Invalid value: [2,1]: must be ordered']],
    [onExitCodes({ values: [1, 1] }), ['p.rules[0].onExitCodes.values[1] | Duplicate value: 1']],
    [
      onExitCodes({ containerName: 'gone' }),
      [
        'p.rules[0].onExitCodes.containerName | Invalid value: "gone": must be one of the container or initContainer names in the pod template',
      ],
    ],
    [
      { action: 'Ignore', onPodConditions: [{ type: 'a', status: 'Maybe' }] },
      ['p.rules[0].onPodConditions[0].status | Unsupported value: "Maybe": supported values: "False", "True", "Unknown"'],
    ],
  ])('%j', (rule, findings) => {
    expect(judged([rule])).toEqual(findings);
  });
  test('has at most twenty rules, and may fail an index where each has a limit', () => {
    expect(judged(Array.from({ length: 21 }, () => onExitCodes()))).toEqual(['p.rules | Too many: 21: must have at most 20 items']);
    expect(judged([{ ...onExitCodes(), action: 'FailIndex' }], { backoffLimitPerIndex: 1 })).toEqual([]);
  });
});

describe('a policy of success', () => {
  type Rule = NonNullable<NonNullable<DecodedJobSpec['successPolicy']>['rules']>[number];
  const judged = (...rules: Rule[]) => told(validateSuccessPolicy(aSpec({ completions: 5, successPolicy: { rules } }), 'p'));
  test.each<[Rule[], string[]]>([
    [[{ succeededIndexes: '0,2-3', succeededCount: 3 }], []],
    [[], ['p.rules | Required value: at least one rules must be specified when the successPolicy is specified']],
    [[{}], ['p.rules[0] | Required value: at least one of succeededCount or succeededIndexes must be specified']],
    [
      [{ succeededCount: 6 }],
      ['p.rules[0].succeededCount | Invalid value: 6: must be less than or equal to 5 (the number of specified completions)'],
    ],
    [
      [{ succeededIndexes: '0-1', succeededCount: 3 }],
      [
        'p.rules[0].succeededCount | Invalid value: 3: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)',
      ],
    ],
    [
      [{ succeededIndexes: 'x' }],
      [expect.stringMatching(/^p\.rules\[0\]\.succeededIndexes \| Invalid value: "x": error parsing succeededIndexes: /) as string],
    ],
  ])('%j', (rules, findings) => {
    expect(judged(...rules)).toEqual(findings);
  });
});

describe('an update of a Job', () => {
  const updated = (next: DecodedJobSpec, previous: DecodedJobSpec = {}, status?: DecodedJobStatus) =>
    told(validateJobUpdate(aJob(next), aJob(previous, status)));
  test('may change how many run, and whether', () => {
    expect(updated({ parallelism: 5, suspend: true, backoffLimit: 1 })).toEqual([]);
  });
  test.each<[DecodedJobSpec, string]>([
    [{ completions: 2 }, 'spec.completions | Invalid value: 2: field is immutable'],
    [{ managedBy: 'example.com/x' }, 'spec.managedBy | Invalid value: "example.com/x": field is immutable'],
    [{ completionMode: 'Indexed' }, 'spec.completionMode | Invalid value: "Indexed": field is immutable'],
    [{ backoffLimitPerIndex: 1, completionMode: 'Indexed' }, 'spec.backoffLimitPerIndex | Invalid value: 1: field is immutable'],
  ])('does not change %j', (next, finding) => {
    expect(updated(next)).toContain(finding);
  });
  test('grows an Indexed Job where all its indexes may run at once', () => {
    const indexed: DecodedJobSpec = { completionMode: 'Indexed', completions: 2, parallelism: 2 };
    expect(updated({ ...indexed, completions: 3, parallelism: 3 }, indexed)).toEqual([]);
    expect(updated({ ...indexed, completions: 3 }, indexed)).toEqual([
      'spec.completions | Invalid value: 3: can only be modified in tandem with spec.parallelism',
    ]);
  });
  const placed: DecodedJobSpec = {
    suspend: true,
    template: { ...aSpec().template, spec: { ...aSpec().template?.spec, nodeSelector: { a: 'b' } } },
  };
  test('may place a Job that is at rest, and no other', () => {
    expect(updated(placed, { suspend: true })).toEqual([]);
    expect(
      updated(placed, { suspend: true }, { startTime: '2026-01-01T00:00:00Z', conditions: [{ type: 'Suspended', status: 'True' }] }),
    ).toEqual([]);
    for (const [previous, status] of [
      [{ suspend: false }, {}],
      [{ suspend: true }, { active: 1 }],
      [{ suspend: true }, { startTime: '2026-01-01T00:00:00Z' }],
    ] as const)
      expect(updated(placed, previous, status)).toEqual([expect.stringMatching(/^spec\.template \| .*: field is immutable$/)]);
  });
  test('may change no more than that of the template', () => {
    const renamed = { suspend: true, template: { ...aSpec().template, spec: { ...aSpec().template?.spec, hostname: 'new' } } };
    expect(updated(renamed, { suspend: true })).toEqual([expect.stringMatching(/^spec\.template\.spec \| .*: field is immutable$/)]);
  });
});

describe('the status of a Job', () => {
  const T = (second: number) => `2026-01-01T00:00:0${second}Z`;
  const is = (...types: string[]) => types.map((type) => ({ type, status: 'True' }));
  const done: DecodedJobStatus = { startTime: T(1), completionTime: T(2), conditions: is('SuccessCriteriaMet', 'Complete') };
  const updated = (next: DecodedJobStatus, previous: DecodedJobStatus = {}, spec: DecodedJobSpec = {}) =>
    told(validateJobStatusUpdate(aJob(spec, next), aJob(spec, previous)));
  const conditions = (why: string) => [`status.conditions | Invalid value: ${why}`];

  test('of a Job on its way is free', () => {
    expect(updated({ active: 2, ready: 1, startTime: T(1), uncountedTerminatedPods: { succeeded: ['a'], failed: ['b'] } })).toEqual([]);
    expect(updated(done)).toEqual([]);
    expect(updated({ startTime: T(1), conditions: is('FailureTarget', 'Failed') })).toEqual([]);
  });

  test.each<[DecodedJobStatus, string[]]>([
    [{ active: -1 }, ['status.active | Invalid value: -1: must be greater than or equal to 0']],
    [{ uncountedTerminatedPods: { succeeded: ['a'], failed: ['a'] } }, ['status.uncountedTerminatedPods.failed[0] | Duplicate value: "a"']],
    [
      { uncountedTerminatedPods: { succeeded: [''] } },
      ['status.uncountedTerminatedPods.succeeded[0] | Invalid value: "": must not be empty'],
    ],
    [{ ready: 2, active: 1 }, ['status.ready | Invalid value: 2: cannot set more ready pods than active']],
    [
      { completionTime: T(1) },
      [`status.completionTime | Invalid value: "${T(1)}": cannot set completionTime when there is no Complete=True condition`],
    ],
    [{ ...done, completionTime: undefined }, ['status.completionTime | Required value: completionTime is required for Complete jobs']],
    [{ ...done, completionTime: T(0) }, [`status.completionTime | Invalid value: "${T(0)}": must be equal to or after \`startTime\``]],
    [
      { ...done, conditions: is('Complete') },
      conditions('cannot set Complete=True condition without the SuccessCriteriaMet=true condition'),
    ],
    [
      { startTime: T(1), conditions: is('Failed') },
      conditions('cannot set Failed=True condition without the FailureTarget=true condition'),
    ],
    [{ ...done, active: 1 }, ['status.active | Invalid value: 1: active>0 is invalid for finished job']],
    [{ ...done, terminating: 1 }, ['status.terminating | Invalid value: 1: terminating>0 is invalid for finished job']],
    [{ ...done, startTime: undefined }, ['status.startTime | Required value: startTime is required for finished job']],
    [
      { completedIndexes: '0' },
      ['status.completedIndexes | Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode'],
    ],
    [
      { failedIndexes: '0' },
      ['status.failedIndexes | Invalid value: "0": cannot set non-null failedIndexes when backoffLimitPerIndex is null'],
    ],
    [
      { startTime: T(1), conditions: is('SuccessCriteriaMet', 'FailureTarget') },
      conditions('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'),
    ],
  ])('is never %j', (next, findings) => {
    expect(updated(next)).toEqual(findings);
  });

  test('keeps its lists of indexes apart', () => {
    const spec = { completionMode: 'Indexed', completions: 5, backoffLimitPerIndex: 1 };
    expect(updated({ completedIndexes: '0-1', failedIndexes: '2' }, {}, spec)).toEqual([]);
    expect(updated({ completedIndexes: '0-2', failedIndexes: '2' }, {}, spec)).toEqual([
      'status.failedIndexes | Invalid value: "2": failedIndexes and completedIndexes overlap at index: 2',
    ]);
    expect(updated({ completedIndexes: '5' }, {}, spec)).toEqual([
      expect.stringMatching(/^status\.completedIndexes \| Invalid value: "5": error parsing completedIndexes: /),
    ]);
  });

  test.each<[DecodedJobStatus, DecodedJobStatus, string[]]>([
    [{ failed: 1 }, { failed: 2 }, ['status.failed | Invalid value: 1: cannot decrease the failed counter']],
    [{ succeeded: 1 }, { succeeded: 2 }, ['status.succeeded | Invalid value: 1: cannot decrease the succeeded counter']],
    [
      { startTime: T(2) },
      { startTime: T(1) },
      [`status.startTime | Invalid value: "${T(2)}": field is immutable for unsuspended job once set`],
    ],
    [{ ...done, completionTime: T(3) }, done, [`status.completionTime | Invalid value: "${T(3)}": field is immutable`]],
    [
      { startTime: T(1) },
      { startTime: T(1), conditions: is('FailureTarget') },
      conditions('cannot disable the terminal FailureTarget=True condition'),
    ],
    [{}, { conditions: is('SuccessCriteriaMet') }, conditions('cannot disable the SuccessCriteriaMet=True condition')],
  ])('takes nothing back: %j after %j', (next, previous, findings) => {
    expect(updated(next, previous)).toEqual(findings);
  });

  test('may restart the clock of a Job that is resumed', () => {
    const suspended = { startTime: T(1), conditions: is('Suspended') };
    expect(updated({ startTime: T(2), conditions: [{ type: 'Suspended', status: 'False' }] }, suspended)).toEqual([]);
  });

  test('of an Indexed Job that was made smaller has fewer successes', () => {
    expect(updated({ succeeded: 1 }, { succeeded: 2 }, { completionMode: 'Indexed', completions: 1, parallelism: 1 })).toEqual([]);
  });

  test('from before a rule can be written where the rule is not touched', () => {
    const old = { ...done, active: 1, conditions: is('Complete') };
    expect(updated({ ...old, succeeded: 1 }, old)).toEqual([]);
  });

  test('has a condition where one of its type is true', () => {
    expect(
      isConditionTrue(
        [
          { type: 'A', status: 'False' },
          { type: 'A', status: 'True' },
        ],
        'A',
      ),
    ).toBe(true);
    expect([isConditionTrue([{ type: 'A', status: 'Unknown' }], 'A'), isConditionTrue(undefined, 'A')]).toEqual([false, false]);
  });
});

describe('the defaults of a Job', () => {
  const defaulted = (spec: DecodedJobSpec | undefined, own?: Record<string, string>) => {
    const job = anObject('j', spec === undefined ? {} : { spec }, own === undefined ? {} : { labels: own }) as DecodedJob;
    applyJobDefaults(job);
    return job;
  };
  test('are those of upstream', () => {
    expect(defaulted(undefined).spec).toMatchObject({
      completions: 1,
      parallelism: 1,
      completionMode: 'NonIndexed',
      suspend: false,
      manualSelector: false,
      backoffLimit: 6,
      podReplacementPolicy: 'TerminatingOrFailed',
      template: { spec: { restartPolicy: 'Always' } },
    });
  });
  test('leave a work queue one, and know what goes with what', () => {
    expect(defaulted({ parallelism: 3 }).spec).not.toHaveProperty('completions');
    expect(defaulted({ completions: 3 }).spec?.parallelism).toBe(1);
    expect(defaulted({ backoffLimitPerIndex: 1 }).spec?.backoffLimit).toBe(2 ** 31 - 1);
    expect(defaulted({ podFailurePolicy: { rules: [{ onPodConditions: [{ type: 'a' }] }] } }).spec).toMatchObject({
      podReplacementPolicy: 'Failed',
      podFailurePolicy: { rules: [{ onPodConditions: [{ status: 'True' }] }] },
    });
  });
  test('give a Job without labels those of its template, as a copy', () => {
    const template = { metadata: { labels: { a: 'b' } } };
    expect(defaulted({ template }).metadata.labels).toEqual({ a: 'b' });
    expect(defaulted({ template }, {}).metadata.labels).toEqual({ a: 'b' });
    expect(defaulted({ template }, { c: 'd' }).metadata.labels).toEqual({ c: 'd' });
    const job = anObject('j', { spec: { template } }) as DecodedJob;
    copyTemplateLabels(job);
    expect(job.metadata.labels).not.toBe(template.metadata.labels);
  });
});

describe('warnings of a Job', () => {
  const warned = (spec: DecodedJobSpec, name = 'j', verb: 'create' | 'update' = 'create') => jobWarnings(aJob(spec, undefined, name), verb);
  test('tell of names that make no hostnames, when it is created', () => {
    expect(warned({}, 'a.b')).toEqual([
      expect.stringMatching(/^metadata\.name: this is used in Pod names and hostnames, .*: \[must not contain dots\]$/),
    ]);
    expect(warned({}, 'a.b', 'update')).toEqual([]);
  });
  test('tell of more indexes than can be tracked', () => {
    const large = { completionMode: 'Indexed', completions: 100_001, parallelism: 10_001 };
    expect(warned(large)).toEqual([expect.stringMatching(/^spec: In Indexed Jobs with a number of completions higher than 10\^5/)]);
    expect([
      warned({ ...large, completions: 100_000 }),
      warned({ ...large, parallelism: 10_000 }),
      warned({ ...large, completionMode: 'NonIndexed' }),
    ]).toEqual([[], [], []]);
  });
  test('are those of its template, too', () => {
    const template = { ...aSpec().template, spec: { ...aSpec().template?.spec, nodeSelector: { 'beta.kubernetes.io/arch': 'x' } } };
    expect(warned({ template })).toEqual([
      'spec.template.spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; use "kubernetes.io/arch" instead',
    ]);
  });
});
