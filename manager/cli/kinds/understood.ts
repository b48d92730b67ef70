import { QuantityError } from '../../../shared/kube/quantity.ts';
import type { Unsaved, WorkObject } from '../../../shared/api/kubernetes.ts';
import { formatAmount } from '../../api/amount.ts';
import type { FieldProblem } from '../../api/field-problem.ts';
import { DEFAULT_JOB_RULES } from '../../api/job-rules.ts';
import { isJsonObject } from '../../api/json-value.ts';
import { podRequests } from '../../api/pod-requests.ts';
import { describedKind } from '../../work-kind/described/described-kind.ts';
import type { Description } from '../../work-kind/described/description.ts';
import { valueAt } from '../../../shared/api/field-path.ts';
import { readObject } from '../../work-kind/described/reading.ts';
import type { PodSet } from '../../work-kind/pod-sets.ts';
import type { Manifest } from '../import-kueue/documents.ts';
import { plain } from '../plain-text.ts';
import { formatTable } from '../text-table.ts';

/** What a description understands of an object. */
export type Understood = {
  readonly object: string;
  readonly suspended: boolean;
  /** The value of `managedBy`; absent: it has none. */
  readonly managedBy?: string;
  readonly podSets: readonly {
    readonly name: string;
    readonly pods: number;
    readonly minPods?: number;
    readonly finished: number;
    readonly requests: Readonly<Record<string, string>>;
    readonly template: string;
  }[];
  readonly state: {
    readonly started: boolean;
    readonly ready: boolean;
    readonly atRest: boolean;
    readonly ended?: string;
    readonly reason?: string;
    readonly message?: string;
  };
  readonly podSelector?: string;
  readonly problems: readonly FieldProblem[];
};

/** Reads an object as the manager does. */
export function understood(description: Description, { kind, name, fields }: Manifest): Understood {
  const object = objectOf(fields);
  const { podSets, state, podLabels } = readObject(description, object);
  const work = describedKind(description);
  const managedBy = description.managedBy && valueAt(object, description.managedBy.path);
  const selector = Object.entries(podLabels).map(([label, value]) => `${label}=${value}`);
  const { namespace } = object.metadata;
  return {
    object: `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`,
    suspended: state.suspended,
    ...(typeof managedBy === 'string' ? { managedBy } : {}),
    podSets: podSets.map(({ name: podSet, count, minCount, finished, template, field = '' }) => ({
      name: podSet,
      pods: count,
      ...(minCount === undefined ? {} : { minPods: minCount }),
      finished,
      requests: requestsOf(template),
      template: field,
    })),
    state: {
      started: state.started,
      ready: state.ready,
      atRest: state.suspended && state.atRest,
      ...(state.end === undefined ? {} : { ended: state.end.type, reason: state.end.reason, message: state.end.message }),
    },
    ...(selector.length === 0 ? {} : { podSelector: selector.join(',') }),
    problems: work.ruleProblems(object, DEFAULT_JOB_RULES),
  };
}

/** A manifest may lack what an API server adds. */
function objectOf(fields: Readonly<Record<string, unknown>>): Unsaved<WorkObject> {
  const { metadata, spec } = fields;
  return { ...fields, metadata: isJsonObject(metadata) ? metadata : {}, spec: isJsonObject(spec) ? spec : {} };
}

/** What one pod requests. Quantities that are none are among the problems of the object. */
function requestsOf({ spec }: PodSet['template']): Record<string, string> {
  try {
    const requests = podRequests(spec ?? { containers: [] });
    return Object.fromEntries([...requests].map(([resource, amount]) => [resource, formatAmount(resource, amount)]));
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    return {};
  }
}

/** The same for people. */
export function understoodLines(
  { object, suspended, managedBy, podSets, state, podSelector, problems }: Understood,
  width: number,
): string[] {
  const rows = podSets.map(({ name, pods, minPods, finished, requests, template }) => ({
    cells: [
      name,
      String(pods),
      minPods === undefined ? '-' : String(minPods),
      String(finished),
      Object.entries(requests)
        .map(([resource, amount]) => `${resource}=${amount}`)
        .join(',') || '-',
      template,
    ],
    note: '',
  }));
  const facts = [
    `suspended: ${suspended ? 'yes' : 'no'}`,
    ...(managedBy === undefined ? [] : [`managedBy: ${managedBy}`]),
    `state: ${stateText(state)}`,
    ...(podSelector === undefined ? [] : [`pods: ${podSelector}`]),
    ...problems.map(({ field, problem }) => `problem: ${field}: ${problem}`),
  ];
  const table = formatTable(
    { heads: ['POD SET', 'PODS', 'LEAST', 'DONE', 'REQUESTS OF EACH', 'TEMPLATE'], spare: ['DONE', 'LEAST', 'TEMPLATE'], rows },
    width - INDENT.length,
  );
  return [plain(object), ...(rows.length === 0 ? [] : table), ...facts.map(plain)].map((line, at) =>
    at === 0 ? line : `${INDENT}${line}`,
  );
}

const INDENT = '  ';

function stateText({ started, ready, atRest, ended, reason, message }: Understood['state']): string {
  if (ended !== undefined) return `${ended}: ${[reason, message].filter((text) => text !== undefined && text !== '').join(': ')}`;
  if (atRest) return 'suspended, and nothing of it runs';
  return started ? (ready ? 'started, and all pods are ready' : 'started, and not all pods are ready') : 'not started';
}
