import { KubeconfigError } from './kubeconfig-error.ts';

/**
 * The fields of a mapping, each read as the type that it must have; throws {@link KubeconfigError} naming field and remedy when it has
 * another. An absent field, null and an empty text are the same, as in Kubernetes.
 */
export class Fields {
  readonly #record: Readonly<Record<string, unknown>>;
  readonly #origin: string;
  readonly #path: string;

  private constructor(value: unknown, origin: string, path: string) {
    if (!isRecord(value))
      throw new KubeconfigError(
        path === '' ? `${origin} is not valid: it is not a YAML mapping` : `${origin}: ${path} is not a YAML mapping`,
      );
    this.#record = value;
    this.#origin = origin;
    this.#path = path;
  }

  /** The fields of a document, which messages call `origin`. */
  static of(value: unknown, origin: string): Fields {
    return new Fields(value, origin, '');
  }

  names(): string[] {
    return Object.keys(this.#record);
  }

  all(): Readonly<Record<string, unknown>> {
    return this.#record;
  }

  value(name: string): unknown {
    return Object.hasOwn(this.#record, name) ? (this.#record[name] ?? undefined) : undefined;
  }

  text(name: string): string | undefined {
    const given = this.value(name);
    if (given === undefined || given === '') return undefined;
    if (typeof given === 'string') return given;
    throw this.problem(name, 'is not text; put quotes around it');
  }

  truth(name: string): boolean {
    const given = this.value(name) ?? false;
    if (typeof given === 'boolean') return given;
    throw this.problem(name, 'is neither true nor false');
  }

  /** The text that base64 stands for. */
  base64(name: string): string | undefined {
    const given = this.text(name)?.replaceAll(/\s/g, '');
    if (given === undefined) return undefined;
    if (/^[A-Za-z0-9+/]+={0,2}$/.test(given) && given.length % 4 === 0) return Buffer.from(given, 'base64').toString('utf8');
    throw this.problem(name, 'is not base64; write what `base64 -w0 FILE` prints of the PEM file');
  }

  /** Throws unless the field is absent or says `only`. */
  isAtMost(name: string, only: string): void {
    if ((this.text(name) ?? only) !== only) throw this.problem(name, `is not ${only}; it is no kubeconfig of a version that is understood`);
  }

  texts(name: string): string[] {
    return this.#items(name).map((each, index) => {
      if (typeof each === 'string') return each;
      throw this.problem(`${name}[${index}]`, 'is not text; put quotes around it');
    });
  }

  record(name: string): Fields | undefined {
    const given = this.value(name);
    return given === undefined ? undefined : new Fields(given, this.#origin, this.#at(name));
  }

  /** A mapping that is not there: one without fields. */
  without(name: string): Fields {
    return new Fields({}, this.#origin, this.#at(name));
  }

  records(name: string): Fields[] {
    return this.#items(name).map((each, index) => new Fields(each, this.#origin, `${this.#at(name)}[${index}]`));
  }

  problem(name: string, what: string): KubeconfigError {
    return new KubeconfigError(`${this.#origin}: ${this.#at(name)} ${what}`);
  }

  /** A problem of the mapping as a whole. */
  flaw(what: string): KubeconfigError {
    return new KubeconfigError(`${this.#origin}${this.#path === '' ? '' : `: ${this.#path}`} ${what}`);
  }

  #items(name: string): readonly unknown[] {
    const given = this.value(name) ?? [];
    if (Array.isArray(given)) return given;
    throw this.problem(name, 'is not a list');
  }

  #at(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
