import { type Crd, type CrdNames, type CrdStatus, hasCondition } from './crd.ts';
import { withCondition } from './crd-conditions.ts';

/**
 * What the naming and establishing controllers of apiextensions say about a CRD: which of its names it gets, beside the other
 * CRDs of its group, and whether it is served. Undefined when its status says so already.
 */
export function establish(crd: Crd, others: readonly Crd[], now: string): CrdStatus | undefined {
  const { acceptedNames, conflict } = acceptNames(crd, others);
  const wasEstablished = hasCondition(crd, 'Established');
  let status: CrdStatus = { ...crd.status, acceptedNames };
  if (conflict === undefined) {
    status = withCondition(status, { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }, now);
    const message = 'the initial names have been accepted';
    if (!wasEstablished)
      status = withCondition(status, { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message }, now);
  } else {
    status = withCondition(status, { type: 'NamesAccepted', status: 'False', ...conflict }, now);
    if (!wasEstablished) {
      const message = 'not all names are accepted';
      status = withCondition(status, { type: 'Established', status: 'False', reason: 'NotAccepted', message }, now);
    }
  }
  return JSON.stringify(status) === JSON.stringify(crd.status) ? undefined : status;
}

type Conflict = { readonly reason: string; readonly message: string };

/** Names that another CRD of the group holds are not accepted; the ones accepted before stay then. */
function acceptNames(crd: Crd, others: readonly Crd[]): { acceptedNames: CrdNames; conflict: Conflict | undefined } {
  const wanted = crd.spec?.names ?? {};
  const accepted: CrdNames = { plural: '', kind: '', ...crd.status?.acceptedNames };
  const rivals = others.filter((other) => other.metadata.uid !== crd.metadata.uid && other.spec?.group === crd.spec?.group);
  const resources = new Set(rivals.flatMap(({ status }) => resourceNames(status?.acceptedNames ?? {})));
  const kinds = new Set(rivals.flatMap(({ status }) => [status?.acceptedNames?.kind, status?.acceptedNames?.listKind]));
  let conflict: Conflict | undefined;
  const refuse = (what: string, name: string): void => {
    conflict = { reason: `${what}Conflict`, message: `${JSON.stringify(name)} is already in use` };
  };
  const plural = wanted.plural ?? '';
  if (resources.has(plural)) refuse('Plural', plural);
  else accepted.plural = plural;
  const singular = wanted.singular ?? '';
  if (resources.has(singular)) refuse('Singular', singular);
  else if (singular !== '') accepted.singular = singular;
  const shortNames = wanted.shortNames ?? [];
  const takenShortName = shortNames.find((name) => resources.has(name));
  if (takenShortName !== undefined) refuse('ShortNames', takenShortName);
  else if (shortNames.length > 0) accepted.shortNames = shortNames;
  else delete accepted.shortNames;
  const kind = wanted.kind ?? '';
  if (kinds.has(kind)) refuse('Kind', kind);
  else accepted.kind = kind;
  const listKind = wanted.listKind ?? '';
  if (kinds.has(listKind)) refuse('ListKind', listKind);
  else if (listKind !== '') accepted.listKind = listKind;
  if (wanted.categories === undefined) delete accepted.categories;
  else accepted.categories = wanted.categories;
  return { acceptedNames: accepted, conflict };
}

const resourceNames = ({ plural, singular, shortNames = [] }: CrdNames): string[] =>
  [plural ?? '', singular ?? '', ...shortNames].filter((name) => name !== '');
