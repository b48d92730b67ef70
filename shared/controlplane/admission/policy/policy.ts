import type { LabelSelector } from '../../../api/kubernetes.ts';
import type { AnyObject } from '../../apimachinery/object.ts';
import type { DecodedRule } from '../webhook/webhook-validation.ts';

/** A ValidatingAdmissionPolicy as decoding leaves it. */
export type DecodedPolicy = AnyObject & { spec?: DecodedPolicySpec; status?: DecodedPolicyStatus };

export type DecodedPolicySpec = {
  failurePolicy?: string;
  paramKind?: DecodedParamKind;
  matchConstraints?: DecodedMatchResources;
  matchConditions?: { name?: string; expression?: string }[];
  variables?: { name?: string; expression?: string }[];
  validations?: DecodedValidation[];
  auditAnnotations?: { key?: string; valueExpression?: string }[];
};
export type DecodedParamKind = { apiVersion?: string; kind?: string };
export type DecodedValidation = { expression?: string; message?: string; messageExpression?: string; reason?: string };
export type DecodedPolicyStatus = { typeChecking?: { expressionWarnings?: { fieldRef?: string; warning?: string }[] } };

/** `matchConstraints` of a policy and `matchResources` of a binding. */
export type DecodedMatchResources = {
  matchPolicy?: string;
  namespaceSelector?: LabelSelector;
  objectSelector?: LabelSelector;
  resourceRules?: DecodedNamedRule[];
  excludeResourceRules?: DecodedNamedRule[];
};
export type DecodedNamedRule = DecodedRule & { resourceNames?: string[] };

/** A ValidatingAdmissionPolicyBinding as decoding leaves it. */
export type DecodedBinding = AnyObject & { spec?: DecodedBindingSpec };

export type DecodedBindingSpec = {
  policyName?: string;
  paramRef?: DecodedParamRef;
  matchResources?: DecodedMatchResources;
  validationActions?: string[];
};
export type DecodedParamRef = { name?: string; namespace?: string; selector?: LabelSelector; parameterNotFoundAction?: string };

/** The registry hands every strategy objects of its own kind, decoded by that kind's schema. */
export const asPolicy = (object: AnyObject): DecodedPolicy => object as DecodedPolicy;
export const asPolicyBinding = (object: AnyObject): DecodedBinding => object as DecodedBinding;
