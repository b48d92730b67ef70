import { COPIES_FINALIZER, ORIGIN_LABEL, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { type DescribedFields, describedForm, JOB_FORM, labelledWith, type ObjectForm, quoted } from './cel-variables.ts';
import { type KindWords, queueField, type RuleInWords } from './write-rule.ts';

/**
 * Rules for the manager's own account on Jobs, and objects of described kinds, of its own cluster, whatever field manager it names. RBAC
 * grants them by kind, and cannot tell those of the manager from others; the rules of the table (job-parts.ts) do not bind the manager.
 * These rules bound the damage of a stolen token. Only API servers enforce them: the webhook is not called for writes of the manager.
 */

const ownerField = ({ managedBy }: KindWords): string => managedBy?.path ?? queueField();

const IN_KUBERNETES_OWN: RuleInWords = {
  field: () => 'metadata.namespace',
  problem: ({ kind }) => `belongs to Kubernetes itself, and the manager creates no ${kind}s there`,
  brokenWhen: "oldObject == null && request.namespace.startsWith('kube-')",
};

/** Rules about objects of a form. */
const rulesOfForm = (form: ObjectForm): readonly RuleInWords[] => [
  {
    field: ownerField,
    problem: ({ kind, suspend, managedBy }) =>
      `must be ${managedBy?.home ?? 'there'}, and ${suspend} true, in a new ${kind} that the manager creates on its own cluster`,
    brokenWhen: `oldObject == null && !(${isManaged(form, 'object')} && ${form.isSuspended('object')} || ${isCopyOfOurs()})`,
  },
  {
    field: ownerField,
    problem: ({ kind, managedBy }) =>
      `is ${managedBy === undefined ? 'missing' : `not ${managedBy.home}`}, and the ${kind} is no copy: the manager neither changes nor deletes it`,
    brokenWhen: `oldObject != null && !(${isManaged(form, 'oldObject')} || ${labelledWith('oldObject', ORIGIN_LABEL)})`,
  },
];

export const OWN_ACCOUNT_RULES: readonly RuleInWords[] = [
  IN_KUBERNETES_OWN,
  ...rulesOfForm(JOB_FORM),
  {
    field: () => 'spec.template.spec.serviceAccountName',
    problem: ({ kind }) =>
      `must be default, or absent, in a new ${kind} that the manager creates in its own namespace: the accounts there have rights of their own`,
    brokenWhen: `oldObject == null && ${isInOwnNamespace()} && has(object.spec.template.spec.serviceAccountName) && object.spec.template.spec.serviceAccountName != 'default'`,
  },
  {
    field: () => 'spec.template',
    problem: () => 'is the user’s, and the manager leaves it as it is',
    // A deletion has the old object only.
    brokenWhen: `oldObject != null && object != null && ${isManaged(JOB_FORM, 'oldObject')} && object.spec.template != oldObject.spec.template`,
  },
];

/** Rules about objects of any described kind, also where nobody has told where their fields are: their marks say whose they are. */
export const OWN_ACCOUNT_RULES_OF_ANY_KIND: readonly RuleInWords[] = [
  IN_KUBERNETES_OWN,
  {
    field: queueField,
    problem: ({ kind }) => `is missing, and the manager creates no ${kind}s without a queue on its own cluster`,
    brokenWhen: `oldObject == null && !(${labelledWith('object', QUEUE_NAME_LABEL)} || ${isCopyOfOurs()})`,
  },
  {
    field: () => 'metadata.namespace',
    problem: ({ kind }) =>
      `is the manager’s own, where accounts have rights of their own, and it creates no copies of ${kind}s there; use another namespace`,
    brokenWhen: `oldObject == null && ${isInOwnNamespace()} && ${labelledWith('object', ORIGIN_LABEL)}`,
  },
  {
    field: queueField,
    problem: ({ kind }) => `is missing, and the ${kind} is no copy: the manager neither changes nor deletes it`,
    brokenWhen: `oldObject != null && !(${isMarked('oldObject')} || ${JOB_FORM.namesManager('oldObject')} || ${labelledWith('oldObject', ORIGIN_LABEL)})`,
  },
];

/**
 * The same where a description says where they are. Of the spec the manager writes one field only, by which it admits and holds. Where the
 * spec says whose an object is, no mark counts for that: the account may write marks, and so make a copy of it.
 */
export function ownAccountRulesOf(described: DescribedFields): readonly RuleInWords[] {
  const { suspend, managedBy } = described;
  const form = describedForm(described);
  const isNotACopy = managedBy === undefined ? isManaged(form, 'oldObject') : form.namesManager('oldObject');
  return [
    ...rulesOfForm(form),
    {
      field: () => 'spec',
      problem: (words) => `is the user’s, and the manager leaves all of it but ${words.suspend} as it is`,
      // Definitions let few fields stand beside it.
      brokenWhen:
        `oldObject != null && object != null && ${isNotACopy}` +
        ` && !(has(object.spec) == has(oldObject.spec) && (!has(object.spec) || ${areSameBut(suspend.split('.'))}))`,
    },
  ];
}

/** CEL: whether an object is this manager's, before a write or after it. */
function isManaged({ namesManager, namesNobodyElse }: ObjectForm, object: string): string {
  if (namesNobodyElse === undefined) return `(${namesManager(object)})`;
  return `(${namesManager(object)} && (${isMarked(object)} || ${namesNobodyElse(object)}))`;
}

/** CEL: whether an object has a queue, or copies. */
function isMarked(object: string): string {
  const hasCopies = `has(${object}.metadata.finalizers) && ${quoted(COPIES_FINALIZER)} in ${object}.metadata.finalizers`;
  return `(${labelledWith(object, QUEUE_NAME_LABEL)} || ${hasCopies})`;
}

/** CEL: whether the specs before and after a write are the same but for the field at this path below the object. */
function areSameBut([root = '', ...path]: readonly string[]): string {
  const [now, before] = [`object.${root}`, `oldObject.${root}`];
  const [step] = path;
  if (step === undefined) return 'true';
  const name = quoted(step);
  const others =
    `${now}.all(field, field == ${name} || field in ${before} && ${now}[field] == ${before}[field])` +
    ` && ${before}.all(field, field == ${name} || field in ${now})`;
  const [next, nextBefore] = [`${now}.${step}`, `${before}.${step}`];
  if (path.length === 1) return others;
  const areMaps = `has(${next}) && has(${nextBefore}) && type(${next}) == map && type(${nextBefore}) == map`;
  const areBothAbsent = `!has(${next}) && !has(${nextBefore})`;
  return `${others} && (${areBothAbsent} || ${areMaps} && ${areSameBut([`${root}.${step}`, ...path.slice(1)])})`;
}

/** The user name of a ServiceAccount contains its namespace. */
function isInOwnNamespace(): string {
  return "variables.managers[0].startsWith('system:serviceaccount:' + request.namespace + ':')";
}

/**
 * CEL: whether a new object is a copy that may be here: copies are created on this cluster by a manager whose own cluster is a worker
 * cluster, too, and by managers of other clusters, which come after the own account in the list.
 */
function isCopyOfOurs(): string {
  return `(size(variables.localWorkers) > 0 || variables.username != variables.managers[0]) && ${labelledWith('object', ORIGIN_LABEL)}`;
}
