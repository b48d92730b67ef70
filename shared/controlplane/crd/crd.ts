import { semanticEqual } from '../apimachinery/semantic-equal.ts';
import type { DecodedServiceReference } from '../admission/webhook/webhook-address-validation.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { JsonSchema } from './json-schema.ts';

/** A CustomResourceDefinition as decoding leaves it. */
export type Crd = AnyObject & { spec?: CrdSpec; status?: CrdStatus };

export type CrdSpec = {
  group?: string;
  names?: CrdNames;
  scope?: string;
  versions?: CrdVersion[];
  conversion?: { strategy?: string; webhook?: ConversionWebhook };
  preserveUnknownFields?: boolean;
};
type ConversionWebhook = {
  clientConfig?: { url?: string; service?: DecodedServiceReference; caBundle?: string };
  conversionReviewVersions?: string[];
};
export type CrdNames = {
  plural?: string;
  singular?: string;
  kind?: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
};
export type CrdVersion = {
  name?: string;
  served?: boolean;
  storage?: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: JsonSchema };
  subresources?: CrdSubresources;
  additionalPrinterColumns?: PrinterColumn[];
  selectableFields?: { jsonPath?: string }[];
};
export type CrdSubresources = {
  status?: object;
  scale?: { specReplicasPath?: string; statusReplicasPath?: string; labelSelectorPath?: string };
};
export type PrinterColumn = {
  name?: string;
  type?: string;
  format?: string;
  description?: string;
  priority?: number;
  jsonPath?: string;
};
export type CrdStatus = {
  conditions?: CrdCondition[] | null;
  acceptedNames?: CrdNames;
  storedVersions?: string[] | null;
  observedGeneration?: number;
};
export type CrdCondition = {
  type: string;
  status: string;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
  observedGeneration?: number;
};

/** The registry hands the strategy objects of its own kind, decoded by that kind's schema. */
export const asCrd = (object: AnyObject): Crd => object as Crd;

export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

export const hasCondition = (crd: Crd, type: string): boolean =>
  crd.status?.conditions?.some((each) => each.type === type && each.status === 'True') ?? false;

/**
 * The internal form of a CRD has one schema (and one of each other part) for all versions where they are all the same,
 * and messages speak of it. True when that is so for a part.
 */
export function isShared(versions: readonly CrdVersion[], part: keyof CrdVersion): boolean {
  const [first, ...others] = versions;
  return first?.[part] !== undefined && others.every((each) => semanticEqual(each[part], first[part]));
}
