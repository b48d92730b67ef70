import { expect, test } from 'vitest';
import { NAMESPACE } from '../../../../../../shared/controlplane/admission/webhook/namespace-type.ts';

test('managed fields of a namespace are not there for expressions', () => {
  const metadata = NAMESPACE.fields?.get('metadata')?.fields;
  expect([metadata?.has('labels'), metadata?.has('managedFields')]).toEqual([true, false]);
});
