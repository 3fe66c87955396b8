/** The table of options that a script gives, read with its types checked. */
export class Options {
  readonly #values: Readonly<Record<string, unknown>>;
  /** In front of names in messages, such as `from_client.`. */
  readonly #prefix: string;
  readonly #known = new Set<string>();

  constructor(values: Readonly<Record<string, unknown>>, prefix = '') {
    this.#values = values;
    this.#prefix = prefix;
  }

  /** Neither absent nor empty. */
  text(name: string): string {
    const text = this.optionalText(name);
    if (text === undefined || text === '') throw new TypeError(`${this.#prefix}${name} is missing`);
    return text;
  }

  optionalText(name: string): string | undefined {
    const value = this.#own(name);
    if (value === undefined) return undefined;
    if (typeof value === 'string') return value;
    if (typeof value === 'number') return String(value);
    throw this.#mismatch(name, 'a string');
  }

  flag(name: string): boolean {
    const value = this.#own(name) ?? false;
    if (typeof value !== 'boolean') throw this.#mismatch(name, 'true or false');
    return value;
  }

  optionalTexts(name: string): string[] | undefined {
    const value = this.#own(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw this.#mismatch(name, 'a list of strings');
    return value.map((item: unknown) => {
      if (typeof item === 'string') return item;
      if (typeof item === 'number') return String(item);
      throw this.#mismatch(name, 'a list of strings');
    });
  }

  optionalTable(name: string): Options | undefined {
    const value = this.#own(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'object' || Array.isArray(value)) throw this.#mismatch(name, 'a table');
    return new Options(value as Readonly<Record<string, unknown>>, `${this.#prefix}${name}.`);
  }

  table(name: string): Options {
    const table = this.optionalTable(name);
    if (table === undefined) throw new TypeError(`${this.#prefix}${name} is missing`);
    return table;
  }

  /** Refuses what nobody asked for: it was meant to have an effect. */
  end(): void {
    const unknown = Object.keys(this.#values).filter((name) => !this.#known.has(name));
    if (unknown.length === 0) return;
    const names = unknown.map((name) => `${this.#prefix}${name}`).join(', ');
    const known = [...this.#known].toSorted().join(', ');
    throw new TypeError(`there is no option ${names}: the options are ${known}`);
  }

  #own(name: string): unknown {
    this.#known.add(name);
    return Object.hasOwn(this.#values, name) ? (this.#values[name] ?? undefined) : undefined;
  }

  #mismatch(name: string, expected: string): TypeError {
    return new TypeError(`${this.#prefix}${name} must be ${expected}`);
  }
}
