import { formatAmount, minus, parseAmount, plus, ZERO } from '../../api/amount.ts';
import { PRIORITY_ANNOTATION, PRIORITY_CLASS_LABEL } from '../../../shared/api/names.ts';
import { QuantityError } from '../../../shared/kube/quantity.ts';

/** The object has no field to which the edit applies. */
export class EditError extends Error {
  override readonly name = 'EditError';
}

/** A new value for one field of an object that admission reads. */
export type Edit =
  | { readonly field: 'quota'; readonly flavor: string; readonly resource: string; readonly amount: string }
  | { readonly field: 'capacity'; readonly resource: string; readonly amount: string }
  | { readonly field: 'weight'; readonly weight: string }
  | { readonly field: 'cohortName'; readonly cohort: string }
  | { readonly field: 'stopPolicy'; readonly policy: string }
  | { readonly field: 'state'; readonly state: 'Active' | 'Cordoned' | 'Draining' }
  | { readonly field: 'lost' }
  | { readonly field: 'priority'; readonly priority: string };

type Json = Readonly<Record<string, unknown>>;
type Groups = readonly { readonly coveredResources: readonly string[]; readonly flavors: readonly FlavorQuotas[] }[];
type FlavorQuotas = { readonly name: string; readonly resources: readonly { readonly name: string; readonly nominalQuota: string }[] };

/** The object with the edit applied. Throws {@link EditError} if it has no such field; validation checks the value. */
export function edited(object: Json, edit: Edit, place: string, nowMs: number): Json {
  const spec = (object['spec'] ?? {}) as Json;
  const status = (object['status'] ?? {}) as Json;
  const withSpec = (fields: Json): Json => ({ ...object, spec: { ...spec, ...fields } });
  switch (edit.field) {
    case 'quota':
      return withSpec({ resourceGroups: withQuota((spec['resourceGroups'] ?? []) as Groups, edit, place) });
    case 'capacity': {
      const capacity = (spec['capacity'] ?? {}) as Readonly<Record<string, string>>;
      const allocatable = (status['allocatable'] ?? {}) as Readonly<Record<string, string>>;
      const { resource, amount } = edit;
      const present = capacity[resource] ?? allocatable[resource];
      return withSpec({ capacity: { ...capacity, [resource]: changedAmount(resource, present, amount, place) } });
    }
    case 'weight':
      return withSpec({ fairSharing: { ...(spec['fairSharing'] as Json | undefined), weight: edit.weight } });
    case 'cohortName': {
      const { cohortName: _cohort, ...rest } = spec;
      return { ...object, spec: edit.cohort === '' ? rest : { ...rest, cohortName: edit.cohort } };
    }
    case 'stopPolicy':
      return withSpec({ stopPolicy: edit.policy });
    case 'state':
      return withSpec({ state: edit.state });
    case 'lost':
      return { ...object, status: { ...status, lostSince: new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z') } };
    case 'priority': {
      const metadata = object['metadata'] as Json;
      const { [PRIORITY_CLASS_LABEL]: _class, ...labels } = (metadata['labels'] ?? {}) as Json;
      const annotations = { ...(metadata['annotations'] as Json | undefined), [PRIORITY_ANNOTATION]: edit.priority };
      return { ...object, metadata: { ...metadata, labels, annotations } };
    }
  }
}

function withQuota(groups: Groups, { flavor, resource, amount }: Extract<Edit, { field: 'quota' }>, place: string): Groups {
  const flavors = groups.flatMap((group) => (group.coveredResources.includes(resource) ? group.flavors : []));
  if (!flavors.some(({ name }) => name === flavor)) {
    const there = groups.flatMap((group) => group.flavors.map(({ name }) => `${name} (${group.coveredResources.join(', ')})`));
    throw new EditError(
      `${place}: it gives no ${resource} in flavor ${flavor}; it has ${there.length === 0 ? 'no flavors' : there.join(' and ')}; to add one, write the whole queue with -f`,
    );
  }
  return groups.map((group) => ({
    ...group,
    flavors: group.flavors.map((each) => ({
      ...each,
      resources: each.resources.map((quota) =>
        each.name === flavor && quota.name === resource
          ? { ...quota, nominalQuota: changedAmount(resource, quota.nominalQuota, amount, place) }
          : quota,
      ),
    })),
  }));
}

/** `+8` and `-8` are relative to the present amount. */
function changedAmount(resource: string, present: string | undefined, amount: string, place: string): string {
  const sign = amount.startsWith('+') ? plus : amount.startsWith('-') ? minus : undefined;
  if (sign === undefined) return amount;
  if (present === undefined)
    throw new EditError(`${place}: how much ${resource} there is now is not known; write the amount without a sign`);
  try {
    const changed = sign(parseAmount(resource, present), parseAmount(resource, amount.slice(1)));
    return formatAmount(resource, changed < ZERO ? ZERO : changed);
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    throw new EditError(`${place}: ${error.message}; write an amount such as +8 or +16Gi`, { cause: error });
  }
}
