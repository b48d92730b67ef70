import type { DeepReadonly, KubeObject } from '../../shared/api/kubernetes.ts';
import type { Resource } from '../../shared/api/resources.ts';
import { authoritiesIn, bundleOf, type Authority } from './key-pair.ts';

/** An object by which API servers know a server of ours, and whom they trust to vouch for it. */
export type BundleHolder = KubeObject & { webhooks?: { name: string; clientConfig?: { caBundle?: string } }[] };

const webhookConfigurations = (kind: string, plural: string): Resource<BundleHolder> => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural,
  kind,
  namespaced: false,
});

/** The kinds of such objects. */
export const BUNDLE_HOLDERS: readonly Resource<BundleHolder>[] = [
  webhookConfigurations('MutatingWebhookConfiguration', 'mutatingwebhookconfigurations'),
  webhookConfigurations('ValidatingWebhookConfiguration', 'validatingwebhookconfigurations'),
];

/** Whom all webhooks of it trust. One that trusts fewer than the others makes them fewer for all. */
export function bundleIn({ webhooks = [] }: DeepReadonly<BundleHolder>): readonly Authority[] {
  const bundles = webhooks.map(({ clientConfig }) => authoritiesIn(Buffer.from(clientConfig?.caBundle ?? '', 'base64').toString('utf8')));
  const [first = [], ...others] = bundles;
  return first.filter(({ certPem }) => others.every((bundle) => bundle.some((each) => each.certPem === certPem)));
}

/** A JSON patch after which all webhooks trust these, if the object is still of this version: otherwise the answer is 409. */
export function bundlePatch({ metadata, webhooks = [] }: DeepReadonly<BundleHolder>, authorities: readonly Authority[]): readonly object[] {
  const value = Buffer.from(bundleOf(authorities)).toString('base64');
  return [
    { op: 'replace', path: '/metadata/resourceVersion', value: metadata.resourceVersion },
    ...webhooks.map((_, index) => ({ op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value })),
  ];
}
