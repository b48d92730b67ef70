/** What the charts grant to accounts, as lines that people compare. */
import { ofKind, renderChart, type Chart, type Rendered } from './helm.ts';

type Rule = {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
};
type Binding = Rendered & {
  readonly subjects: readonly { readonly name: string }[];
  readonly roleRef: { readonly kind: string; readonly name: string };
};

/** What a ServiceAccount is granted; `namespace` is '*' for all of them. */
type Grant = {
  readonly namespace: string;
  /** `GROUP/RESOURCE`, without the group where it is the core's. */
  readonly resource: string;
  readonly names: readonly string[] | undefined;
  readonly verbs: readonly string[];
};

export function grantsOf(account: string, rendered: readonly Rendered[]): Grant[] {
  const bindings = [...ofKind(rendered, 'ClusterRoleBinding'), ...ofKind(rendered, 'RoleBinding')] as Binding[];
  return bindings
    .filter(({ subjects }) => subjects.some(({ name }) => name === account))
    .flatMap(({ metadata: { namespace }, roleRef }) =>
      ofKind(rendered, roleRef.kind)
        .filter(({ metadata }) => metadata.name === roleRef.name && metadata.namespace === namespace)
        .flatMap((role) => role['rules'] as Rule[])
        .flatMap(({ apiGroups = [], resources = [], resourceNames: names, verbs }) =>
          apiGroups.flatMap((group) =>
            resources.map((each) => ({ namespace: namespace ?? '*', resource: group === '' ? each : `${group}/${each}`, names, verbs })),
          ),
        ),
    );
}

/** `NAMESPACE: GROUP/RESOURCE[NAMES] VERBS` of each. */
export const rightsOf = (account: string, rendered: readonly Rendered[]): string[] =>
  grantsOf(account, rendered).map(
    ({ namespace, resource, names, verbs }) => `${namespace}: ${resource}${names === undefined ? '' : `[${names.join()}]`} ${verbs.join()}`,
  );

/** What values change in the rights of an account: `+` what comes, `-` what goes. */
export function changesOf(chart: Chart, account: string, values: readonly string[]): string[] {
  const [before, after] = [rightsOf(account, renderChart(chart)), rightsOf(account, renderChart(chart, ...values))];
  return [
    ...before.filter((right) => !after.includes(right)).map((right) => `- ${right}`),
    ...after.filter((right) => !before.includes(right)).map((right) => `+ ${right}`),
  ];
}
