import type { CelEnvironment } from '../../../cel/cel-environment.ts';
import type { AdmissionRequest } from '../admission-request.ts';
import type { Authorizer } from '../../auth/authorizer.ts';
import type { UserInfo } from '../../auth/user-info.ts';

/** `authorizer` of match conditions: asks whether the user of the request may do something else. */
class CelAuthorizer {
  readonly authorizer: Authorizer;
  readonly user: UserInfo;
  constructor(authorizer: Authorizer, user: UserInfo) {
    this.authorizer = authorizer;
    this.user = user;
  }
}

type Target = { group: string; resource: string; subresource: string; namespace: string; name: string };
class ResourceCheck {
  readonly by: CelAuthorizer;
  readonly target: Target;
  constructor(by: CelAuthorizer, target: Target) {
    this.by = by;
    this.target = target;
  }
  with(change: Partial<Target>): ResourceCheck {
    return new ResourceCheck(this.by, { ...this.target, ...change });
  }
}
class PathCheck {
  readonly by: CelAuthorizer;
  readonly path: string;
  constructor(by: CelAuthorizer, path: string) {
    this.by = by;
    this.path = path;
  }
}
class Decision {
  readonly allowed: boolean;
  readonly reason: string;
  constructor(allowed: boolean, reason: string) {
    this.allowed = allowed;
    this.reason = reason;
  }
}
class GroupCheck {
  readonly by: CelAuthorizer;
  readonly group: string;
  constructor(by: CelAuthorizer, group: string) {
    this.by = by;
    this.group = group;
  }
}

const TYPES = 'kubernetes.authorization';

export function registerAuthorizerLibrary(environment: CelEnvironment): void {
  environment
    .registerType(`${TYPES}.Decision`, { ctor: Decision })
    .registerType(`${TYPES}.ResourceCheck`, { ctor: ResourceCheck })
    .registerType(`${TYPES}.PathCheck`, { ctor: PathCheck })
    .registerType(`${TYPES}.GroupCheck`, { ctor: GroupCheck })
    .registerType(`${TYPES}.Authorizer`, { ctor: AuthorizerValue, fields: { requestResource: `${TYPES}.ResourceCheck` } })
    .registerFunction(
      `${TYPES}.Authorizer.group(string): ${TYPES}.GroupCheck`,
      (by: AuthorizerValue, group: string) => new GroupCheck(by, group),
    )
    .registerFunction(
      `${TYPES}.Authorizer.path(string): ${TYPES}.PathCheck`,
      (by: AuthorizerValue, path: string) => new PathCheck(by, path),
    )
    .registerFunction(
      `${TYPES}.GroupCheck.resource(string): ${TYPES}.ResourceCheck`,
      ({ by, group }: GroupCheck, resource: string) => new ResourceCheck(by, { group, resource, subresource: '', namespace: '', name: '' }),
    )
    .registerFunction(`${TYPES}.ResourceCheck.subresource(string): ${TYPES}.ResourceCheck`, (check: ResourceCheck, subresource: string) =>
      check.with({ subresource }),
    )
    .registerFunction(`${TYPES}.ResourceCheck.namespace(string): ${TYPES}.ResourceCheck`, (check: ResourceCheck, namespace: string) =>
      check.with({ namespace }),
    )
    .registerFunction(`${TYPES}.ResourceCheck.name(string): ${TYPES}.ResourceCheck`, (check: ResourceCheck, name: string) =>
      check.with({ name }),
    )
    .registerFunction(`${TYPES}.ResourceCheck.check(string): ${TYPES}.Decision`, ({ by, target }: ResourceCheck, verb: string) =>
      decide(by, { kind: 'resource', verb, version: '*', ...target }),
    )
    .registerFunction(`${TYPES}.PathCheck.check(string): ${TYPES}.Decision`, ({ by, path }: PathCheck, verb: string) =>
      decide(by, { kind: 'path', verb, path }),
    )
    .registerFunction(`${TYPES}.Decision.allowed(): bool`, ({ allowed }: Decision) => allowed)
    .registerFunction(`${TYPES}.Decision.reason(): string`, ({ reason }: Decision) => reason);
}

class AuthorizerValue extends CelAuthorizer {
  readonly requestResource: ResourceCheck;
  constructor(authorizer: Authorizer, { user, resource, subresource, namespace, name }: AdmissionRequest) {
    super(authorizer, user);
    this.requestResource = new ResourceCheck(this, { group: resource.group, resource: resource.resource, subresource, namespace, name });
  }
}

/** The value of the variable `authorizer` for one request. */
export const authorizerValue = (authorizer: Authorizer, request: AdmissionRequest): unknown => new AuthorizerValue(authorizer, request);

function decide({ authorizer, user }: CelAuthorizer, question: Parameters<Authorizer['authorize']>[1]): Decision {
  const { allowed, reason } = authorizer.authorize(user, question);
  return new Decision(allowed, reason);
}
