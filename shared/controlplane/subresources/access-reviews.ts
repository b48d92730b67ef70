import type { UserInfo } from '../auth/user-info.ts';
import { type FieldError, forbidden, invalid, required } from '../apimachinery/field-error.ts';
import { labelValueProblems, qualifiedNameProblems } from '../../kube/name-formats.ts';
import { badRequest, StatusError } from '../apimachinery/status-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import type { AccessDecision, AccessQuestion } from '../auth/authorizer.ts';
import type { RbacAuthorizer } from '../auth/rbac-authorizer.ts';
import { omitUndefined } from '../../runtime/omit-undefined.ts';

export type ReviewDeps = { readonly authorizer: RbacAuthorizer; readonly authenticator: Authenticator };

/** A kind that is created only to be answered: the answer is its status. */
export type ReviewKind = {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** The object with its status. Throws a StatusError. */
  answer(review: AnyObject, user: UserInfo, namespace: string, deps: ReviewDeps): AnyObject;
};

const AUTHORIZATION = 'authorization.k8s.io';
const AUTHENTICATION = 'authentication.k8s.io';

/** The reviews of authentication.k8s.io/v1 and authorization.k8s.io/v1. */
export const REVIEW_KINDS: readonly ReviewKind[] = [
  {
    group: AUTHENTICATION,
    kind: 'SelfSubjectReview',
    plural: 'selfsubjectreviews',
    namespaced: false,
    answer: (review, user) => ({ ...review, status: { userInfo: userInfo(user) } }),
  },
  {
    group: AUTHENTICATION,
    kind: 'TokenReview',
    plural: 'tokenreviews',
    namespaced: false,
    answer: reviewToken,
  },
  {
    group: AUTHORIZATION,
    kind: 'LocalSubjectAccessReview',
    plural: 'localsubjectaccessreviews',
    namespaced: true,
    answer: (review, _user, namespace, deps) => {
      const spec = specOf(review);
      const own = spec.resourceAttributes?.namespace ?? '';
      const isElsewhere = spec.resourceAttributes !== undefined && own !== namespace;
      refuse([
        ...validateSpec(spec, validateSubject(spec)),
        ...validateMetadata(review, true),
        ...(isElsewhere ? [invalid('spec.resourceAttributes.namespace', own, 'must match metadata.namespace')] : []),
        ...(spec.nonResourceAttributes === undefined
          ? []
          : [invalid('spec.nonResourceAttributes', spec.nonResourceAttributes, 'disallowed on this kind of request')]),
      ]);
      return decided(review, deps.authorizer.authorize(subjectOf(spec), questionOf(spec)));
    },
  },
  {
    group: AUTHORIZATION,
    kind: 'SelfSubjectAccessReview',
    plural: 'selfsubjectaccessreviews',
    namespaced: false,
    answer: (review, user, _namespace, deps) => {
      const spec = specOf(review);
      refuse([...validateSpec(spec, []), ...validateMetadata(review, false)]);
      return decided(review, deps.authorizer.authorize(user, questionOf(spec)));
    },
  },
  {
    group: AUTHORIZATION,
    kind: 'SelfSubjectRulesReview',
    plural: 'selfsubjectrulesreviews',
    namespaced: false,
    answer: reviewRules,
  },
  {
    group: AUTHORIZATION,
    kind: 'SubjectAccessReview',
    plural: 'subjectaccessreviews',
    namespaced: false,
    answer: (review, _user, _namespace, deps) => {
      const spec = specOf(review);
      refuse([...validateSpec(spec, validateSubject(spec)), ...validateMetadata(review, false)]);
      return decided(review, deps.authorizer.authorize(subjectOf(spec), questionOf(spec)));
    },
  },
];

type SelectorAttributes = {
  rawSelector?: string;
  requirements?: { key?: string; operator?: string; values?: string[] }[];
};

type ReviewSpec = {
  resourceAttributes?: {
    namespace?: string;
    verb?: string;
    group?: string;
    version?: string;
    resource?: string;
    subresource?: string;
    name?: string;
    fieldSelector?: SelectorAttributes;
    labelSelector?: SelectorAttributes;
  };
  nonResourceAttributes?: { path?: string; verb?: string };
  user?: string;
  groups?: string[];
  uid?: string;
  extra?: Record<string, string[]>;
};

/** Decoding has checked the shape. */
const specOf = (review: AnyObject): ReviewSpec => (review['spec'] ?? {}) as ReviewSpec;

const validateSubject = ({ user = '', groups = [] }: ReviewSpec): FieldError[] =>
  user === '' && groups.length === 0 ? [invalid('spec.user', user, 'at least one of user or group must be specified')] : [];

/** What the validation of all access reviews has in common: what is asked, by whom, about which selection. */
const validateSpec = (spec: ReviewSpec, subject: readonly FieldError[]): FieldError[] => [
  ...validateQuestion(spec),
  ...subject,
  ...validateSelector(spec.resourceAttributes?.fieldSelector, 'spec.resourceAttributes.fieldSelector', validateFieldKey),
  ...validateSelector(spec.resourceAttributes?.labelSelector, 'spec.resourceAttributes.labelSelector', validateLabelRequirement),
];

type Requirement = NonNullable<SelectorAttributes['requirements']>[number];

/** Operators that are not known are taken: a client may be newer than the server. */
function validateSelector(
  selector: SelectorAttributes | undefined,
  path: string,
  validateRequirement: (requirement: Requirement, path: string, operatorErrors: FieldError[]) => FieldError[],
): FieldError[] {
  if (selector === undefined) return [];
  const { rawSelector = '', requirements = [] } = selector;
  const errors: FieldError[] = [];
  if (rawSelector !== '' && requirements.length > 0) {
    errors.push(invalid(`${path}.rawSelector`, rawSelector, 'may not specified at the same time as requirements'));
  }
  if (rawSelector === '' && requirements.length === 0) {
    errors.push(required(`${path}.requirements`, `when ${path} is specified, requirements or rawSelector is required`));
  }
  for (const [i, requirement] of requirements.entries()) {
    const at = `${path}.requirements[${i}]`;
    errors.push(...validateRequirement(requirement, at, validateOperator(requirement, at)));
  }
  return errors;
}

function validateOperator({ operator = '', values = [] }: Requirement, path: string): FieldError[] {
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    return [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    return [forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
  }
  return [];
}

const validateFieldKey = ({ key = '' }: Requirement, path: string, operatorErrors: FieldError[]): FieldError[] => [
  ...(key === '' ? [required(`${path}.key`, 'must be specified')] : []),
  ...operatorErrors,
];

const validateLabelRequirement = ({ key = '', values = [] }: Requirement, path: string, operatorErrors: FieldError[]): FieldError[] => [
  ...operatorErrors,
  ...qualifiedNameProblems(key).map((problem) => invalid(`${path}.key`, key, problem)),
  ...values.flatMap((value, i) => labelValueProblems(value).map((problem) => invalid(`${path}.values[${i}]`, value, problem))),
];

/** A review is no object that is kept: it has no metadata, but for the namespace of a local one. */
function validateMetadata({ metadata }: AnyObject, namespaced: boolean): FieldError[] {
  const { managedFields: _managedFields, namespace, ...given } = metadata;
  const isEmpty = Object.keys(given).length === 0 && (namespaced || (namespace ?? '') === '');
  return isEmpty ? [] : [invalid('metadata', metadata, namespaced ? 'must be empty except for namespace' : 'must be empty')];
}

function validateQuestion({ resourceAttributes, nonResourceAttributes }: ReviewSpec): FieldError[] {
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    return [invalid('spec.nonResourceAttributes', nonResourceAttributes, 'cannot be specified in combination with resourceAttributes')];
  }
  if (resourceAttributes !== undefined || nonResourceAttributes !== undefined) return [];
  return [invalid('spec.resourceAttributes', null, 'exactly one of nonResourceAttributes or resourceAttributes must be specified')];
}

/** Upstream's refusals of reviews name neither kind nor object. */
function refuse(errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  const sentences = errors.map(({ field, body }) => `${field}: ${body}`);
  const causes = errors.map(({ type, field, body }) => ({ reason: type, message: body, field }));
  const message = `.${AUTHORIZATION} "" is invalid: ${sentences.length === 1 ? sentences[0] : `[${sentences.join(', ')}]`}`;
  throw new StatusError(422, 'Invalid', message, { group: AUTHORIZATION, causes });
}

const subjectOf = ({ user = '', groups = [], uid, extra }: ReviewSpec): UserInfo => ({
  name: user,
  groups,
  ...omitUndefined({ uid, extra }),
});

function questionOf({ resourceAttributes, nonResourceAttributes }: ReviewSpec): AccessQuestion {
  if (nonResourceAttributes !== undefined) {
    return { kind: 'path', verb: nonResourceAttributes.verb ?? '', path: nonResourceAttributes.path ?? '' };
  }
  const { verb = '', group = '', version = '', resource = '', subresource = '', namespace = '', name = '' } = resourceAttributes ?? {};
  return { kind: 'resource', verb, group, version, resource, subresource, namespace, name };
}

const decided = (review: AnyObject, { allowed, reason }: AccessDecision): AnyObject => ({
  ...review,
  status: { allowed, ...(reason === '' ? {} : { reason }) },
});

const userInfo = ({ name, uid, groups, extra }: UserInfo): object => ({
  username: name,
  ...(uid === undefined || uid === '' ? {} : { uid }),
  ...(groups.length === 0 ? {} : { groups }),
  ...(extra === undefined || Object.keys(extra).length === 0 ? {} : { extra }),
});

function reviewToken(review: AnyObject, _user: UserInfo, _namespace: string, { authenticator }: ReviewDeps): AnyObject {
  const { token = '', audiences = [] } = (review['spec'] ?? {}) as { token?: string; audiences?: string[] };
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const verdict = authenticator.reviewToken(token, audiences);
  switch (verdict.kind) {
    case 'known':
      return { ...review, status: { authenticated: true, user: userInfo(verdict.user), audiences: verdict.audiences } };
    case 'unknown':
      return { ...review, status: { user: {}, error: INVALID_TOKEN } };
    case 'refused':
      return { ...review, status: { user: {}, error: `[${INVALID_TOKEN}, ${verdict.why}]` } };
  }
}

const INVALID_TOKEN = 'invalid bearer token';

function reviewRules(review: AnyObject, user: UserInfo, _namespace: string, { authorizer }: ReviewDeps): AnyObject {
  const { namespace = '' } = (review['spec'] ?? {}) as { namespace?: string };
  if (namespace === '') throw badRequest('no namespace on request');
  const { granted, errors } = authorizer.rulesFor(user, namespace);
  const rules = granted.map(({ rule }) => rule);
  const resourceRules = rules
    .filter(({ resources = [] }) => resources.length > 0)
    .map(({ verbs, apiGroups, resources, resourceNames }) => ({
      verbs,
      apiGroups,
      resources,
      ...(resourceNames === undefined || resourceNames.length === 0 ? {} : { resourceNames }),
    }));
  const nonResourceRules = rules
    .filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0)
    .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs }));
  const status = {
    resourceRules,
    nonResourceRules,
    incomplete: false,
    ...(errors.length === 0 ? {} : { evaluationError: errors.join(', ') }),
  };
  // The answer does not repeat the question.
  return { ...review, spec: {}, status };
}
