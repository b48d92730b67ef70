import { toWireTime } from '../../api/wire-time.ts';
import { jsonAnswer } from '../request/answer.ts';
import type { ServiceAccountTokens } from '../auth/service-account-tokens.ts';
import { newUid } from '../apimachinery/identifiers.ts';
import { readTokenRequest } from '../kinds/token-request.ts';
import { decodeAs } from './pod-subresources.ts';
import { readWriteOptions } from '../registry/request-options.ts';
import type { HandlerDeps } from '../endpoints/resource-handlers.ts';
import type { ServedResource } from '../resources/served-resources.ts';
import type { Subresource } from '../endpoints/subresource.ts';

/** `POST serviceaccounts/x/token`: issues a token that authenticates the account until it expires. */
export const tokenSubresource = (deps: HandlerDeps, serviceAccounts: ServedResource, tokens: ServiceAccountTokens): Subresource => ({
  group: '',
  version: 'v1',
  resource: 'serviceaccounts',
  subresource: 'token',
  methods: {
    POST: (call) => {
      const { namespace, name } = call.info;
      const { fieldValidation } = readWriteOptions(call.info.query, 'CreateOptions');
      const { object: account } = deps.registry.get(serviceAccounts, namespace, name);
      const request = decodeAs(call, 'TokenRequest', 'authentication.k8s.io', 'v1', fieldValidation);
      const spec = readTokenRequest(request['spec'] ?? {});
      const nowMs = deps.clock.now();
      const expiresMs = nowMs + spec.expirationSeconds * 1000;
      const claims = {
        aud: spec.audiences,
        exp: Math.floor(expiresMs / 1000),
        iat: Math.floor(nowMs / 1000),
        jti: newUid(deps.random),
        sub: `system:serviceaccount:${namespace}:${name}`,
        'kubernetes.io': { namespace, serviceaccount: { name, uid: account.metadata.uid } },
      };
      const body = {
        kind: 'TokenRequest',
        apiVersion: 'authentication.k8s.io/v1',
        metadata: { name, namespace, creationTimestamp: toWireTime(nowMs) },
        spec: { ...spec, boundObjectRef: null },
        status: { token: tokens.issue(claims), expirationTimestamp: toWireTime(expiresMs) },
      };
      return jsonAnswer(201, JSON.stringify(body));
    },
  },
});
