import type { Environment, RegisteredFunctionHandler } from '@marcbachmann/cel-js';
import type { Variables } from './checker/declarations.ts';
import { objectOf, readType, type StaticType } from './checker/static-type.ts';

/** An object of the interpreter: the class of its values, and the fields that expressions may name. */
type ObjectType = { readonly ctor: new (...args: never[]) => unknown; readonly fields?: Readonly<Record<string, string>> };

/**
 * What expressions may speak about: for the checker, which knows the types of variables and decides what compiles, and for the interpreter,
 * which has the functions and evaluates.
 */
export class CelEnvironment {
  readonly interpreter: Environment;
  readonly #objects: Map<string, StaticType>;
  readonly #variables: Map<string, StaticType>;

  constructor(interpreter: Environment, objects: ReadonlyMap<string, StaticType> = new Map(), variables: Variables = new Map()) {
    this.interpreter = interpreter;
    this.#objects = new Map(objects);
    this.#variables = new Map(variables);
  }

  get variables(): Variables {
    return this.#variables;
  }

  registerType(name: string, { ctor, fields }: ObjectType): this {
    this.interpreter.registerType(name, { ctor, fields: { ...fields } });
    const checked = Object.entries(fields ?? {}).map(([field, type]): [string, StaticType] => [field, this.#type(type)]);
    this.#objects.set(name, objectOf(name, fields === undefined ? undefined : new Map(checked)));
    return this;
  }

  /** `type` in the interpreter's words; `checked` where the checker sees it otherwise. */
  registerVariable(name: string, type: string, checked: StaticType = this.#type(type)): this {
    this.interpreter.registerVariable(name, type);
    this.#variables.set(name, checked);
    return this;
  }

  /** A variable whose name has dots: the interpreter reads it as fields. */
  declareQualified(name: string, type: string): this {
    this.#variables.set(name, this.#type(type));
    return this;
  }

  registerFunction(signature: string, handler: RegisteredFunctionHandler): this {
    this.interpreter.registerFunction(signature, handler);
    return this;
  }

  registerOperator(...definition: Parameters<Environment['registerOperator']>): this {
    this.interpreter.registerOperator(...definition);
    return this;
  }

  clone(): CelEnvironment {
    return new CelEnvironment(this.interpreter.clone(), this.#objects, this.#variables);
  }

  #type(text: string): StaticType {
    return readType(text, this.#objects);
  }
}
