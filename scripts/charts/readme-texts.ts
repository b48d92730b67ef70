import type { ReadmeText } from './chart-readme.ts';

export const MANAGER_README: Omit<ReadmeText, 'chart' | 'version' | 'description'> = {
  sections: `
## Install

\`\`\`
helm install switchyard-manager charts/switchyard-manager -n switchyard --create-namespace
\`\`\`

The notes that Helm prints say how to join worker clusters; [docs/install.md](../../docs/install.md) leads through all of it. Without a Redis the manager takes no submissions: Jobs come through the API of its cluster.
\`redis.existingSecret\` names a Secret with the URL of one, \`redis.url\` has the chart make that Secret, \`redis.sentinels\` and \`redis.clusterNodes\` reach others, and \`redis.evaluation.enabled\` runs one
for a trial, which forgets everything with its pod.

## Upgrade

\`helm upgrade\` brings the definitions up to date, too. With Helm 3.14 and newer say \`--reset-then-reuse-values\` instead of \`--reuse-values\`, which leaves out the defaults of values that are new; before that, pass your values with \`-f\`.

Helm 3.10 and 3.11 install the chart as well, and need \`--force\` to upgrade it: they cannot patch match conditions of webhooks.

## Definitions

They come with the release (\`crds.enabled\`) and survive it (\`crds.keep\`). Where another release has left them behind, in whatever namespace, they are left as they are, and the notes print the two commands by which the new release takes
them over.

## Security

All pods meet the Pod Security Standard \`restricted\`. Their ServiceAccount tokens are projected and last an hour. A NetworkPolicy denies everything
but DNS, API servers, and what the values name of Redis, a store of history and a collector of traces; metrics are read from the namespace \`monitoring\`, with a token ([what is open to whom](../../docs/security.md#the-network)). Kubernetes' own roles
\`view\` and \`edit\` see Switchyard's kinds; LocalQueues and SubmissionQueues are written by whoever has the ClusterRole NAME-admin (\`rbac.aggregateAdmin\`). [docs/security.md](../../docs/security.md) says what is promised.
`,
};

export const WORKER_README: typeof MANAGER_README = {
  sections: `
## Install

On each worker cluster:

\`\`\`
helm install switchyard-worker charts/switchyard-worker -n switchyard --create-namespace
\`\`\`

Then \`switchyard clusters join CONTEXT\` joins the cluster to the manager, or follow the notes that Helm prints; [docs/install.md](../../docs/install.md) leads through all of it.

## Upgrade

With Helm 3.14 and newer say \`--reset-then-reuse-values\` instead of \`--reuse-values\`, which leaves out the defaults of values that are new; before that, pass your values with \`-f\`.
While no worker leads, Jobs go on and nobody starts new pods; workers that begin find everything in the API.

## Security

All pods meet the Pod Security Standard \`restricted\`. Their ServiceAccount tokens are projected and last an hour. A NetworkPolicy denies everything
but DNS, the API server, and the collector of traces that the values name; metrics are read from the namespace \`monitoring\`, with a token ([what is open to whom](../../docs/security.md#the-network)). What the manager may do here is \`managerAccess\`.
[docs/security.md](../../docs/security.md) says what is promised.
`,
};
