import { DYN, formatType, isDynamic, sameType, type StaticType } from './static-type.ts';

/** What type parameters stand for, by their names. */
export type Substitutions = Map<string, StaticType>;

/**
 * The substitutions under which each `from` is assignable to the `to` of its place; undefined when there are none (cel-go,
 * checker/types.go).
 */
export function assignAll(known: Substitutions, from: readonly StaticType[], to: readonly StaticType[]): Substitutions | undefined {
  const tried: Substitutions = new Map(known);
  return areAssignable(tried, from, to) ? tried : undefined;
}

const areAssignable = (known: Substitutions, from: readonly StaticType[], to: readonly StaticType[]): boolean =>
  from.length === to.length && from.every((each, i) => isAssignable(known, each, to[i] ?? DYN));

function isAssignable(known: Substitutions, from: StaticType, to: StaticType): boolean {
  if (to.kind === 'param') {
    const { valid, wasKnown } = substituteFor(known, from, to);
    if (valid) return true;
    if (wasKnown) return false;
  }
  if (from.kind === 'param') return substituteFor(known, to, from).valid;
  if (isDynamic(from) || isDynamic(to)) return true;
  if (from.kind === 'null') return isNullable(to);
  if (to.kind === 'null') return isNullable(from);
  switch (from.kind) {
    case 'type':
      return to.kind === 'type';
    case 'opaque':
    case 'list':
    case 'map':
      return from.kind === to.kind && from.name === to.name && areAssignable(known, from.parameters, to.parameters);
    default:
      return from.kind === to.kind && from.name === to.name;
  }
}

const isNullable = ({ kind }: StaticType): boolean => ['null', 'opaque', 'object', 'timestamp', 'duration'].includes(kind);

/** Whether `type` may stand for a parameter; notes it when so. */
function substituteFor(known: Substitutions, type: StaticType, param: StaticType): { readonly valid: boolean; readonly wasKnown: boolean } {
  if (sameType(type, param)) return { valid: true, wasKnown: true };
  const current = known.get(formatType(param));
  if (current !== undefined) {
    if (sameType(type, current)) return { valid: true, wasKnown: true };
    if (!isAssignable(known, type, current)) return { valid: false, wasKnown: true };
    const general = mostGeneral(type, current);
    if (!occursIn(known, param, general)) known.set(formatType(param), general);
    return { valid: true, wasKnown: true };
  }
  if (occursIn(known, param, type)) return { valid: false, wasKnown: false };
  known.set(formatType(param), type);
  return { valid: true, wasKnown: false };
}

export const mostGeneral = (left: StaticType, right: StaticType): StaticType => (isAtMostAsSpecific(left, right) ? left : right);

function isAtMostAsSpecific(left: StaticType, right: StaticType): boolean {
  if (left.kind === 'dyn' || left.kind === 'param') return true;
  if (right.kind === 'dyn' || right.kind === 'param') return false;
  if (left.kind !== right.kind) return false;
  switch (left.kind) {
    case 'type':
      return true;
    case 'opaque':
    case 'list':
    case 'map':
      return left.name === right.name && left.parameters.every((each, i) => isAtMostAsSpecific(each, right.parameters[i] ?? DYN));
    default:
      return sameType(left, right);
  }
}

function occursIn(known: Substitutions, type: StaticType, within: StaticType): boolean {
  if (sameType(type, within)) return true;
  if (within.kind === 'param') {
    const current = known.get(formatType(within));
    return current !== undefined && occursIn(known, type, current);
  }
  return within.parameters.some((each) => occursIn(known, type, each));
}

/** The type with its parameters replaced; those that stand for nothing become dynamic if `finally`. */
export function substitute(known: Substitutions, type: StaticType, isFinal: boolean): StaticType {
  const current = type.kind === 'param' ? known.get(formatType(type)) : undefined;
  if (current !== undefined) return substitute(known, current, isFinal);
  if (type.kind === 'param') return isFinal ? DYN : type;
  return type.parameters.length === 0 ? type : { ...type, parameters: type.parameters.map((each) => substitute(known, each, isFinal)) };
}
