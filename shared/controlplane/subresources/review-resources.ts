import { jsonAnswer } from '../request/answer.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { badRequest } from '../apimachinery/status-error.ts';
import { negotiate } from '../request/negotiation.ts';
import { headerOf } from '../request/request.ts';
import { readWriteOptions } from '../registry/request-options.ts';
import { builtInSchema } from '../schema/builtin.ts';
import { decodeObject } from '../schema/decode.ts';
import type { Subresource } from '../endpoints/subresource.ts';
import { REVIEW_KINDS, type ReviewDeps, type ReviewKind } from './access-reviews.ts';

/** The reviews as resources that can only be created. */
export const reviewResources = (deps: ReviewDeps): Subresource[] => REVIEW_KINDS.map((kind) => reviewResource(kind, deps));

const reviewResource = (review: ReviewKind, deps: ReviewDeps): Subresource => ({
  group: review.group,
  version: 'v1',
  resource: review.plural,
  subresource: '',
  methods: {
    POST: (call) => {
      const { group, kind } = review;
      const { format } = negotiate(headerOf(call.request, 'accept'), { builtIn: true, ofList: false, transforms: false });
      const schema = builtInSchema(group, 'v1', kind);
      if (schema === undefined) throw new Error(`no schema for ${kind}`);
      const { fieldValidation } = readWriteOptions(call.info.query, 'CreateOptions');
      const contentType = headerOf(call.request, 'content-type') || 'application/json';
      const { object, warnings } = decodeObject(call.request.body, contentType, schema, fieldValidation);
      for (const warning of warnings) call.warn(warning);
      placeReview(object, review.namespaced ? call.info.namespace : '');
      const answer = review.answer(object, call.user, call.info.namespace, deps);
      return jsonAnswer(201, JSON.stringify({ ...answer, kind, apiVersion: `${group}/v1` }), format);
    },
  },
});

/** As every object, a review is where its path says. Throws 400. */
function placeReview({ metadata }: AnyObject, namespace: string): void {
  const own = metadata.namespace ?? '';
  if (own !== '' && namespace !== '' && own !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (namespace === '') delete metadata.namespace;
  else metadata.namespace = namespace;
}
