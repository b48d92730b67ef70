import { toWireTime } from '../../api/wire-time.ts';
import { omitUndefined } from '../../runtime/omit-undefined.ts';
import { jsonAnswer } from '../request/answer.ts';
import type { Call } from '../request/call.ts';
import type { Admission } from '../admission/admission-request.ts';
import { API_AUDIENCES } from '../auth/authenticator.ts';
import { type BoundObjects, type ServiceAccountTokens, TOKEN_ISSUER, type TokenClaims } from '../auth/service-account-tokens.ts';
import { invalid as invalidField } from '../apimachinery/field-error.ts';
import { newUid } from '../apimachinery/identifiers.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { badRequest, conflict, invalid, notFound } from '../apimachinery/status-error.ts';
import { asPod } from '../kinds/decoded.ts';
import { type BoundObjectRef, defaultedTokenRequest, type TokenRequestSpec, validateTokenRequest } from '../kinds/token-request.ts';
import { admissionRequest } from '../registry/write-request.ts';
import { readWriteOptions } from '../registry/request-options.ts';
import { type HandlerDeps, writeRequest } from '../endpoints/resource-handlers.ts';
import type { ServedResource } from '../resources/served-resources.ts';
import type { Subresource } from '../endpoints/subresource.ts';
import { decodeAs } from './pod-subresources.ts';

type Deps = HandlerDeps & { readonly admission: Admission; readonly tokens: ServiceAccountTokens; readonly boundObjects: BoundObjects };

const KIND = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' };

/**
 * `POST serviceaccounts/x/token`: issues a token that authenticates the account until it expires, or the object that it is bound to is
 * gone.
 */
export const tokenSubresource = (deps: Deps, serviceAccounts: ServedResource): Subresource => ({
  group: '',
  version: 'v1',
  resource: 'serviceaccounts',
  subresource: 'token',
  methods: {
    POST: async (call) => {
      const { namespace, name } = call.info;
      const ask = askAbout(deps, call, serviceAccounts);
      const asked = await ask.mutate(readBody(call));
      const own = asked.metadata.name ?? '';
      if (own !== '' && own !== name) {
        throw invalid(KIND, name, [invalidField('metadata.name', own, 'must match the service account name if specified')]);
      }
      const { uid } = deps.registry.get(serviceAccounts, namespace, name).object.metadata;
      const askedUid = asked.metadata.uid ?? '';
      if (askedUid !== '' && askedUid !== uid) {
        const why = `the UID in the token request (${askedUid}) does not match the UID of the service account (${uid})`;
        throw conflict({ group: KIND.group, resource: KIND.kind }, name, why);
      }
      const nowMs = deps.clock.now();
      const request = withDefaults(asked, { name, uid, creationTimestamp: toWireTime(nowMs) });
      const spec = specOf(request);
      const errors = validateTokenRequest(spec);
      if (errors.length > 0) throw invalid(KIND, '', errors);
      await ask.validate(request);
      const claims = claimsOf(deps, { namespace, account: { name, uid }, spec, nowMs });
      const status = {
        token: deps.tokens.issue(claims),
        expirationTimestamp: toWireTime(nowMs + spec.expirationSeconds * 1000),
      };
      return jsonAnswer(201, JSON.stringify({ ...request, status }));
    },
  },
});

/** The spec of a TokenRequest that has its defaults, unless a webhook has made something else of it. */
const specOf = (request: AnyObject): TokenRequestSpec => defaultedTokenRequest((request['spec'] ?? {}) as Partial<TokenRequestSpec>);

function readBody(call: Call): AnyObject {
  const { fieldValidation } = readWriteOptions(call.info.query, 'CreateOptions');
  const request = decodeAs(call, KIND.kind, KIND.group, KIND.version, fieldValidation);
  request.metadata.namespace = call.info.namespace;
  return { ...request, spec: specOf(request), status: { token: '', expirationTimestamp: null } };
}

/** What upstream fills in before validating webhooks see the request. */
function withDefaults(asked: AnyObject, metadata: { name: string; uid: string; creationTimestamp: string }): AnyObject {
  const { audiences, ...spec } = specOf(asked);
  return {
    kind: KIND.kind,
    apiVersion: `${KIND.group}/${KIND.version}`,
    metadata: { ...asked.metadata, ...metadata },
    spec: { audiences: audiences === null || audiences.length === 0 ? API_AUDIENCES : audiences, ...spec },
    status: { token: '', expirationTimestamp: null },
  };
}

/** Webhooks see the request as the create of a subresource; validating ones once the account has been found. */
function askAbout({ admission }: Deps, call: Call, serviceAccounts: ServedResource) {
  const options = readWriteOptions(call.info.query, 'CreateOptions');
  const write = writeRequest(call, serviceAccounts, options, 'CreateOptions');
  const question = (object: AnyObject) => ({ ...admissionRequest(write, 'CREATE', object, undefined), kind: KIND });
  return {
    mutate: async (object: AnyObject): Promise<AnyObject> => (await admission.mutate(question(object))) ?? object,
    validate: async (object: AnyObject): Promise<void> => admission.validate(question(object)),
  };
}

type Wanted = {
  readonly namespace: string;
  readonly account: { name: string; uid: string };
  readonly spec: TokenRequestSpec;
  readonly nowMs: number;
};

/** What kubelets ask for: such a token of a pod, for the API alone, lives for a year and warns after the time asked for. */
const EXTENDED_ASKED_SECONDS = 3607;
const EXTENDED_SECONDS = 365 * 24 * 3600;

function claimsOf(deps: Deps, { namespace, account, spec, nowMs }: Wanted): TokenClaims {
  const bound = spec.boundObjectRef === null ? {} : boundTo(deps, spec.boundObjectRef, namespace, account.name);
  const audiences = spec.audiences ?? API_AUDIENCES;
  const isForApi = audiences.every((audience) => API_AUDIENCES.includes(audience));
  const isExtended = bound.pod !== undefined && spec.expirationSeconds === EXTENDED_ASKED_SECONDS && isForApi;
  const now = Math.floor(nowMs / 1000);
  return {
    iss: TOKEN_ISSUER,
    aud: audiences,
    exp: now + (isExtended ? EXTENDED_SECONDS : spec.expirationSeconds),
    iat: now,
    nbf: now,
    jti: newUid(deps.random),
    sub: `system:serviceaccount:${namespace}:${account.name}`,
    'kubernetes.io': {
      namespace,
      serviceaccount: account,
      ...bound,
      ...(isExtended ? { warnafter: now + spec.expirationSeconds } : {}),
    },
  };
}

type Bound = Pick<TokenClaims['kubernetes.io'], 'pod' | 'secret' | 'node'>;

/**
 * The object that a token is bound to. Throws 400 for another kind or the pod of another account, 404 when it is absent, 409 for another
 * UID.
 */
function boundTo({ boundObjects }: Deps, ref: BoundObjectRef, namespace: string, account: string): Bound {
  const { apiVersion = '', kind = '', name = '', uid = '' } = ref;
  const [version, group] = apiVersion.split('/').toReversed();
  const find = (plural: 'pods' | 'secrets' | 'nodes'): AnyObject => {
    const found = boundObjects(plural, plural === 'nodes' ? '' : namespace, name);
    if (found === undefined) throw notFound({ group: '', resource: plural }, name);
    return found;
  };
  const checked = ({ metadata }: AnyObject): { name: string; uid: string } => {
    if (uid === '' || uid === metadata.uid) return { name, uid: metadata.uid };
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: '', resource: kind }, name, why);
  };
  switch (group === undefined || group === '' ? kind : '') {
    case 'Pod': {
      const pod = find('pods');
      const { serviceAccountName = '', nodeName = '' } = asPod(pod).spec ?? {};
      if (serviceAccountName !== account) {
        throw badRequest(
          `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
        );
      }
      if (nodeName === '') return { pod: checked(pod) };
      return { pod: checked(pod), node: { name: nodeName, ...omitUndefined({ uid: boundObjects('nodes', '', nodeName)?.metadata.uid }) } };
    }
    case 'Secret':
      return { secret: checked(find('secrets')) };
    case 'Node':
      return { node: checked(find('nodes')) };
    default:
      throw badRequest(`cannot bind token to object of type ${group ?? ''}/${version ?? ''}, Kind=${kind}`);
  }
}
