import { omitUndefined } from '../../runtime/omit-undefined.ts';
import type { Logger } from '../../runtime/logger.ts';
import { type Answer, errorAnswer, withWarnings } from '../request/answer.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { type AccessQuestion, type Authorizer, forbiddenSentence } from '../auth/authorizer.ts';
import { impersonate } from '../auth/impersonation.ts';
import { type Call, createCall, type Handler } from '../request/call.ts';
import type { UserInfo } from '../auth/user-info.ts';
import type { FaultGate, FaultSubject } from './faults.ts';
import { formatOfErrors } from '../request/negotiation.ts';
import { type ApiRequest, headerOf, parseRequest, type RequestInfo } from '../request/request.ts';
import { forbidden, internalError, StatusError, unauthorized } from '../apimachinery/status-error.ts';
import type { ServerMetrics } from './server-metrics.ts';
import type { Store } from '../storage/store.ts';

export type ApiServerDeps = {
  readonly store: Store;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly route: Handler;
  readonly faults: FaultGate;
  readonly metrics: ServerMetrics;
  readonly log: Logger;
};

/** Answers requests, whatever brought them: authentication, authorization, routing, and what errors look like. */
export interface ApiServer {
  /** Never rejects: a failure is an answer too. */
  answer(request: ApiRequest): Promise<Answer>;
}

export function createApiServer(deps: ApiServerDeps): ApiServer {
  const { store, authenticator, authorizer, faults, metrics, log } = deps;

  const whoSpeaks = (request: ApiRequest, info: RequestInfo): UserInfo => {
    const user =
      request.user ??
      authenticator.authenticate({
        authorization: headerOf(request, 'authorization'),
        ...omitUndefined({ clientCertificate: request.clientCertificate }),
      });
    if (user === undefined) throw unauthorized();
    return impersonate(user, request.headers, questionOf(info), authorizer);
  };
  const authorize = (user: UserInfo, info: RequestInfo): void => {
    const question = questionOf(info);
    const { allowed, reason } = authorizer.authorize(user, question);
    if (allowed) return;
    const of = question.kind === 'resource' ? question : { group: '', resource: '' };
    throw forbidden(of, info.name, forbiddenSentence(user, question, reason));
  };

  async function carryOut(call: Call): Promise<Answer> {
    const result = await deps.route(call);
    // Nobody is told of a write that is not on disk yet.
    const durable = store.settled();
    if (durable !== undefined) await durable;
    return result;
  }

  async function answer(request: ApiRequest): Promise<Answer> {
    let warnings: readonly string[] = [];
    let result: Answer;
    let info: RequestInfo | undefined;
    const finished = metrics.requestStarted();
    try {
      info = parseRequest(request.method, request.path);
      const user = whoSpeaks(request, info);
      authorize(user, info);
      const call = createCall(request, info, user);
      warnings = call.warnings;
      result = await faults.pass(subjectOf(info, user), () => carryOut(call));
    } catch (error) {
      result = refusal(error, request);
    }
    finished(info, result.status);
    return withWarnings(result, warnings);
  }

  const refusal = (error: unknown, request: ApiRequest): Answer => {
    const format = formatOfErrors(headerOf(request, 'accept'));
    if (error instanceof StatusError) return withWarnings(errorAnswer(error, format), error.warnings);
    log.error('request failed', { method: request.method, path: request.path, error });
    return errorAnswer(internalError(error instanceof Error ? error.message : String(error)), format);
  };

  return { answer };
}

const subjectOf = ({ verb, resource, subresource, namespace, name }: RequestInfo, user: UserInfo): FaultSubject => ({
  verb,
  resource: subresource === '' ? resource : `${resource}/${subresource}`,
  namespace,
  name,
  user: user.name,
});

const questionOf = (info: RequestInfo): AccessQuestion => {
  if (!info.isResourceRequest) return { kind: 'path', verb: info.verb, path: info.path };
  const { verb, group, version, resource, subresource, namespace, name } = info;
  return { kind: 'resource', verb, group, version, resource, subresource, namespace, name };
};
