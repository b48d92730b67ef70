import { hash } from 'node:crypto';
import type { DeepReadonly, Unsaved, WorkObject } from '../../../shared/api/kubernetes.ts';
import type { FieldProblem } from '../../api/field-problem.ts';
import type { JobRules } from '../../api/job-rules.ts';
import { isJsonObject } from '../../api/json-value.ts';
import type { WorkKindSpec } from '../../api/work-kind.ts';
import { selectorText } from '../copy/selector-text.ts';
import { claimProblems, namespaceProblems, PODS_AT_ONCE_MAX, requestProblems } from '../pod-set-problems.ts';
import type { Progress, SingleKind } from '../work-kind.ts';
import { admittedPart } from './admitted-part.ts';
import { controllerOf, describedCache, isCompact, needsOf, referencesOf } from './described-cache.ts';
import { describedCopies } from './described-copies.ts';
import { describedHome } from './described-home.ts';
import { compileDescription, type Description } from './description.ts';
import { pathText, patchOperations, valueAt, withValueAt } from '../../../shared/api/field-path.ts';
import { podSelectorOf, type Reading } from './reading.ts';
import { Readings } from './readings.ts';
import { visibleObject, visibleTemplate } from './visible-object.ts';

const GRACE_PERIOD_SECONDS = 30;
/** What a cache keeps of a waiting object; as for Jobs. */
const VISIBLE_BYTES_MAX = 32 * 1024;

/** The kind of work that a description says. It keeps nothing but what it has read of objects that others hold. */
export function describedKind(description: Description): SingleKind {
  const readings = new Readings(description);
  const { resource, suspend, managedBy } = description;
  const fields = managedBy === undefined ? [] : [{ path: managedBy.path, value: managedBy.home }];
  const preparation = [{ path: suspend, value: true as unknown }, ...fields];
  const kind: SingleKind = {
    of: () => kind,
    others: [],
    // The pods of a copy without pod templates do not say whose they are: their labels have to.
    fence:
      description.podLabels.length === 0 && description.podSets.some(({ resources }) => resources !== undefined)
        ? 'None'
        : { resource, suspend, suspendedCondition: description.state.suspendedCondition },
    podsOf: (copy) => podSelectorOf(description, copy),
    resource,
    described: description.spec,
    fields: { suspend: pathText(suspend), ...(managedBy && { managedBy: { path: pathText(managedBy.path), home: managedBy.home } }) },
    controllerOf: (object) => controllerOf(description, object),
    isSuspended: (object) => valueAt(object, suspend) === true,
    prepared: (object) => preparation.reduce((all, { path, value }) => withValueAt(all, path, value), object),
    preparation: (object) => {
      let present: DeepReadonly<Unsaved<WorkObject>> = object;
      return preparation.flatMap(({ path, value }) => {
        if (valueAt(present, path) === value) return [];
        const operations = patchOperations(present, path, value);
        present = withValueAt(present, path, value);
        return operations;
      });
    },
    suspension: (is) => (withValueAt({}, suspend, is) as { readonly spec: Record<string, unknown> }).spec,
    specProblems: (spec) =>
      isJsonObject(spec) ? [...readings.of({ metadata: {}, spec }).problems] : [{ field: 'spec', problem: 'is missing' }],
    ruleProblems: (object, rules) => ruleProblems(description, readings, object, rules),
    podSets: (object) => readings.of(object).podSets,
    podsAtOnce: (object) => podsIn(readings.of(asObject(object))),
    podsNeeded: (object) => podsIn(readings.of(object)),
    readyPodsNeeded: (object, admittedPods) => {
      const { pods, finished } = readings.of(object).state;
      return Math.max(1, Math.min(pods, admittedPods ?? pods) - finished);
    },
    admittedPart: (object, record) => admittedPart(readings.of(object).podSets, object, record),
    graceSeconds: (object) =>
      Math.max(
        0,
        ...readings.of(object).podSets.map(({ template }) => template.spec?.terminationGracePeriodSeconds ?? GRACE_PERIOD_SECONDS),
      ),
    deadlineSeconds: (object) => readings.of(object).deadlineSeconds,
    ttlSeconds: (object) => readings.of(object).ttlSeconds,
    programOf: (object) =>
      hash(
        'sha256',
        JSON.stringify(readings.of(object).podSets.map(({ name, template }) => [name, visibleTemplate(template).spec])),
        'base64url',
      ).slice(0, 12),
    podFenceProblem: () => podFenceProblem(resource.kind),
    references: (object) => referencesOf(readings, object),
    needs: (object) => needsOf(readings, object),
    podSelector: (object) => selectorText(readings.of(object).podLabels),
    progress: (object) => progressOf(readings, object),
    cache: describedCache(description, readings),
    copies: describedCopies(description, readings),
    home: describedHome(description, readings),
  };
  return kind;
}

const podsIn = ({ podSets }: Reading): number => podSets.reduce((sum, { count }) => sum + count, 0);

const asObject = (object: DeepReadonly<Pick<WorkObject, 'spec'>>): DeepReadonly<Unsaved<WorkObject>> =>
  'metadata' in object ? (object as DeepReadonly<WorkObject>) : { metadata: {}, spec: object.spec };

/** An operator may start ended containers again, or pods in their place. */
const podFenceProblem = (kind: string): FieldProblem => ({
  field: 'kind',
  problem: `is ${kind}, whose pods have no pod fence: its operator may start others in their place; leave the pod fence out`,
});

function ruleProblems(
  { resource: { kind } }: Description,
  readings: Readings,
  object: DeepReadonly<Unsaved<WorkObject>>,
  { bytesMax, resourceClaims, deniedNamespaces }: JobRules,
): FieldProblem[] {
  const bytes = bytesOf(object);
  if (bytes > bytesMax) {
    const remedy = 'move scripts and data into a ConfigMap or an image, or ask an administrator to raise --max-job-bytes';
    return [{ field: kind.toLowerCase(), problem: `has ${bytes} bytes as JSON, and at most ${bytesMax} are taken; ${remedy}` }];
  }
  const reading = readings.of(object);
  const { podSets, templates, problems } = reading;
  const pods = podsIn(reading);
  const visible = bytes > VISIBLE_BYTES_MAX ? bytesOf(isCompact(object) ? object : visibleObject(object, templates)) : 0;
  if (visible > VISIBLE_BYTES_MAX) {
    const what = 'what expressions see of it: all but long texts, and what containers do';
    return [
      { field: kind.toLowerCase(), problem: `says ${visible} bytes, and at most ${VISIBLE_BYTES_MAX} are taken (${what}); say less` },
    ];
  }
  if (problems.length > 0) return [...namespaceProblems(object, deniedNamespaces, kind), ...problems];
  return [
    ...namespaceProblems(object, deniedNamespaces, kind),
    ...(podSets.length === 0 ? [{ field: 'spec', problem: `has no pods where the description of ${kind} looks for them; name some` }] : []),
    ...(pods > PODS_AT_ONCE_MAX
      ? [{ field: 'spec', problem: `asks for ${pods} pods at once, and at most ${PODS_AT_ONCE_MAX} are taken; split the ${kind}` }]
      : []),
    ...podSets.flatMap((podSet) => requestProblems([podSet], podSet.field ?? 'spec')),
    ...podSets.flatMap((podSet) => claimProblems([podSet], resourceClaims, podSet.field ?? 'spec', kind)).slice(0, 1),
  ];
}

/** Bytes of the JSON, without what API servers add: managedFields and the status. */
function bytesOf({ status: _status, ...object }: DeepReadonly<Unsaved<WorkObject>>): number {
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return Buffer.byteLength(JSON.stringify({ ...object, metadata }));
}

/** Which of its pods run, its status does not say: from its start to its end all of them count. */
function progressOf(readings: Readings, object: DeepReadonly<Pick<WorkObject, 'status'>>): Progress {
  const { suspended, started, ready, atRest, end, startTime, completionTime, pods, finished } = readings.stateOf(object);
  const runs = started && end === undefined && !(suspended && atRest);
  return {
    startTime,
    completionTime,
    active: runs ? Math.max(0, pods - finished) : 0,
    terminating: 0,
    ready: ready && end === undefined ? Math.max(0, pods - finished) : 0,
    succeeded: finished,
    failed: 0,
  };
}

/** The kinds of these descriptions; those that do not compile are left out. */
export const describedKinds = (specs: readonly WorkKindSpec[]): readonly SingleKind[] =>
  specs.flatMap((spec) => {
    const compiled = compileDescription(spec);
    return compiled.kind === 'Refused' ? [] : [describedKind(compiled.description)];
  });
