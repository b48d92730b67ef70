/** A condition of any kind of object, as far as it is asked about. */
type Condition = { readonly type: string; readonly status: string };
/** Of an object as it came from a server: whoever may write a status may also write nonsense there, which counts as nothing said. */
type Conditions<C extends Condition> = readonly (C | null)[] | null | undefined;

/** The condition of this type, whatever its status. */
export const findCondition = <C extends Condition>(conditions: Conditions<C>, type: string): C | undefined =>
  find(conditions, (each) => each.type === type);

/** The condition of this type, if it is true. */
export const findTrueCondition = <C extends Condition>(conditions: Conditions<C>, type: string): C | undefined =>
  find(conditions, (each) => each.type === type && each.status === 'True');

export const hasTrueCondition = (conditions: Conditions<Condition>, type: string): boolean =>
  findTrueCondition(conditions, type) !== undefined;

type StatusWithConditions<C extends Condition> = { readonly conditions?: Conditions<C> } | null | undefined;

/** Complete or Failed: the status of a Job with this condition is final. */
export const finishedCondition = <C extends Condition>(status: StatusWithConditions<C>): C | undefined =>
  find(status?.conditions, (each) => (each.type === 'Complete' || each.type === 'Failed') && each.status === 'True');

export const isFinished = (status: StatusWithConditions<Condition>): boolean => finishedCondition(status) !== undefined;

function find<C extends Condition>(conditions: Conditions<C>, matches: (condition: C) => boolean): C | undefined {
  if (!Array.isArray(conditions)) return undefined;
  return (conditions as readonly (C | null)[]).find((each): each is C => typeof each === 'object' && each !== null && matches(each));
}
