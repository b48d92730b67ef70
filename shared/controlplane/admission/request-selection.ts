import { type LabelRequirements, matchesLabelSelector } from '../../kube/selectors.ts';
import { notFound } from '../apimachinery/status-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { AdmissionRequest, GroupVersionKind, GroupVersionResource } from './admission-request.ts';
import { isNamespaceObject, ruleCovers, type WebhookRule } from './webhook/webhook-rules.ts';

/** The same objects as another resource: another version, or Events of the other group. */
export type Equivalent = {
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
  /** An object of the request as one of this kind, and back. */
  fromRequest(object: AnyObject): AnyObject;
  toRequest(object: AnyObject): AnyObject;
};

/** In which version rules cover a request: undefined for its own. */
export type Coverage = { readonly version: Equivalent | undefined };

/**
 * Whether one of the rules covers a request, if need be in another version of it. `namesCover` may narrow a rule to names of objects.
 * Undefined when none does.
 */
export function coverageOf<Rule extends WebhookRule>(
  rules: readonly Rule[],
  matchPolicy: string | undefined,
  request: AdmissionRequest,
  equivalentsOf: (request: AdmissionRequest) => readonly Equivalent[],
  namesCover: (rule: Rule) => boolean = () => true,
): Coverage | undefined {
  if (rules.some((rule) => ruleCovers(rule, request) && namesCover(rule))) return { version: undefined };
  if (matchPolicy === 'Exact') return undefined;
  const equivalents = equivalentsOf(request);
  // Earlier rules first.
  for (const rule of rules) {
    if (!namesCover(rule)) continue;
    const version = equivalents.find(({ resource }) => ruleCovers(rule, { ...request, resource }));
    if (version !== undefined) return { version };
  }
  return undefined;
}

/** The request as a rule of another version sees it. */
export function inVersion(request: AdmissionRequest, version: Equivalent | undefined): AdmissionRequest {
  if (version === undefined) return request;
  const { resource, kind } = version;
  const converted = (object: AnyObject | undefined): AnyObject | undefined =>
    object === undefined ? undefined : version.fromRequest(object);
  return { ...request, resource, kind, object: converted(request.object), oldObject: converted(request.oldObject) };
}

/** A namespace selector, asked about the namespace of a request, or about the Namespace that is written. Throws 404. */
export function namespaceSelected(
  selector: LabelRequirements,
  request: AdmissionRequest,
  namespaceLabels: (name: string) => Readonly<Record<string, string>> | undefined,
): boolean {
  if (selector.length === 0) return true;
  if (isNamespaceObject(request) && request.subresource === '' && request.object !== undefined) return selects(selector, request.object);
  if (request.namespace === '') return true;
  const labels = namespaceLabels(request.namespace);
  if (labels === undefined) throw notFound({ group: '', resource: 'namespaces' }, request.namespace);
  return matchesLabelSelector(selector, labels);
}

/** An object selector: the object as it was or as it will be has the labels. */
export const objectSelected = (selector: LabelRequirements, { object, oldObject }: AdmissionRequest): boolean =>
  selector.length === 0 || [object, oldObject].some((each) => selects(selector, each));

const selects = (requirements: LabelRequirements, object: AnyObject | undefined): boolean =>
  object?.metadata !== undefined && matchesLabelSelector(requirements, object.metadata.labels);
