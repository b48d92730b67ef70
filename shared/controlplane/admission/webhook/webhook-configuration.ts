import { validateAnyObjectMeta, subdomainName } from '../../apimachinery/object-meta-validation.ts';
import { semanticEqual } from '../../apimachinery/semantic-equal.ts';
import { ageOf } from '../../kinds/age.ts';
import { AGE_COLUMN, column, NAME_COLUMN } from '../../kinds/table-columns.ts';
import type { AnyObject } from '../../apimachinery/object.ts';
import type { ResourceDefinition, ResourceStrategy, TablePrinter } from '../../resources/strategy.ts';
import { type DecodedWebhook, validateWebhooks } from './webhook-validation.ts';

const webhookTable: TablePrinter = {
  columns: [
    NAME_COLUMN,
    column('Webhooks', 'Webhooks indicates the number of webhooks registered in this configuration', { type: 'integer' }),
    AGE_COLUMN,
  ],
  cells: (object, now) => [object.metadata.name, webhooksOf(object).length, ageOf(object.metadata.creationTimestamp, now)],
};

/** MutatingWebhookConfiguration and ValidatingWebhookConfiguration of admissionregistration.k8s.io/v1. */
export const WEBHOOK_RESOURCES: readonly ResourceDefinition[] = [configuration('Mutating'), configuration('Validating')];

function configuration(what: 'Mutating' | 'Validating'): ResourceDefinition {
  const kind = `${what}WebhookConfiguration`;
  return {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind,
    listKind: `${kind}List`,
    plural: `${kind.toLowerCase()}s`,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: ['api-extensions'],
    namespaced: false,
    strategy: strategy(what === 'Mutating'),
  };
}

function strategy(mutating: boolean): ResourceStrategy {
  return {
    forbidUnconditionalUpdate: true,
    applyDefaults: (object) => {
      for (const webhook of webhooksOf(object)) applyWebhookDefaults(webhook, mutating);
    },
    table: webhookTable,
    prepareForCreate: ({ metadata }) => {
      metadata.generation = 1;
    },
    validateCreate: (object) => [
      ...validateAnyObjectMeta(object.metadata, false, subdomainName),
      ...validateWebhooks(webhooksOf(object), mutating, undefined),
    ],
    prepareForUpdate: (next, previous) => {
      const changed = !semanticEqual(next['webhooks'], previous['webhooks']);
      next.metadata.generation = (previous.metadata.generation ?? 0) + (changed ? 1 : 0);
    },
    validateUpdate: (next, previous) => [
      ...validateAnyObjectMeta(next.metadata, false, subdomainName),
      ...validateWebhooks(webhooksOf(next), mutating, webhooksOf(previous)),
    ],
  };
}

/** Decoding has checked the shape. */
const webhooksOf = (object: AnyObject): DecodedWebhook[] => (Array.isArray(object['webhooks']) ? object['webhooks'] : []);

function applyWebhookDefaults(webhook: DecodedWebhook, mutating: boolean): void {
  webhook.failurePolicy ??= 'Fail';
  webhook.matchPolicy ??= 'Equivalent';
  webhook.namespaceSelector ??= {};
  webhook.objectSelector ??= {};
  webhook.timeoutSeconds ??= 10;
  if (mutating) webhook.reinvocationPolicy ??= 'Never';
  for (const rule of webhook.rules ?? []) rule.scope ??= '*';
  const service = webhook.clientConfig?.service;
  if (service !== undefined) service.port ??= 443;
}
