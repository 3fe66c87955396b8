import { parseDuration } from './duration.ts';
import { ConstructionError } from './errors.ts';

/** The properties of a hook, read with their types checked. */
export class Properties {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  text(name: string): string {
    const value = this.#own(name);
    if (typeof value !== 'string')
      throw new ConstructionError(`'${name}' should be a string: wrong value type`);
    return value;
  }

  filledText(name: string): string {
    const value = this.text(name);
    if (value === '') throw new ConstructionError(`'${name}' must not be empty: wrong value type`);
    return value;
  }

  has(name: string): boolean {
    return this.#own(name) !== undefined;
  }

  /** Absent or null is the empty map. */
  map(name: string): Readonly<Record<string, unknown>> {
    const value = this.#own(name);
    if (value === undefined || value === null) return {};
    if (typeof value !== 'object' || Array.isArray(value)) {
      throw new ConstructionError(`'${name}' should be a map: wrong value type`);
    }
    return value as Record<string, unknown>;
  }

  flag(name: string): boolean {
    const value = this.#own(name);
    if (value === undefined || value === null) return false;
    if (typeof value !== 'boolean')
      throw new ConstructionError(`'${name}' should be a boolean: wrong value type`);
    return value;
  }

  /** Milliseconds; what is not a string counts as absent. */
  timeout(name: string, byDefault: number): number {
    const value = this.#own(name);
    return typeof value === 'string' ? parseDuration(value) : byDefault;
  }

  #own(name: string): unknown {
    return Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
  }
}
