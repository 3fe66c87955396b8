/**
 * A Lua value on our side. Strings are bytes, one per character (latin1), because Lua's are: `textOf` and `bytesOf` turn
 * them into text and back.
 */
export type LuaValue =
  | undefined
  | boolean
  | number
  | string
  | readonly LuaValue[]
  | ReadonlyMap<string, LuaValue>
  | ReadonlyMap<number, LuaValue>
  | HostFunction;

/** A function of ours that Lua calls; an error it throws becomes a Lua error. */
export type HostFunction = (args: readonly LuaValue[]) => readonly LuaValue[];

export function textOf(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

export function bytesOf(text: string | Uint8Array): string {
  return typeof text === 'string'
    ? Buffer.from(text, 'utf8').toString('latin1')
    : Buffer.from(text.buffer, text.byteOffset, text.length).toString('latin1');
}

/** Plain data (from JSON, YAML or a message) as Lua sees it: null members vanish. */
export function luaOf(value: unknown): LuaValue {
  switch (typeof value) {
    case 'string':
      return bytesOf(value);
    case 'number':
    case 'boolean':
    case 'undefined':
      return value;
    case 'bigint':
      return Number(value);
    case 'object':
      if (value === null) return undefined;
      if (Array.isArray(value)) return value.map(luaOf);
      return new Map(Object.entries(value).map(([key, item]) => [bytesOf(key), luaOf(item)]));
    case 'function':
    case 'symbol':
      throw new TypeError(`contains unsupported type: ${typeof value}`);
  }
}

/** A Lua value as plain data. */
export function plainOf(value: LuaValue): unknown {
  if (value === undefined) return null;
  if (typeof value === 'string') return textOf(value);
  if (value instanceof Map) {
    const entries = [...(value as ReadonlyMap<string, LuaValue>)];
    return Object.fromEntries(entries.map(([key, item]) => [textOf(key), plainOf(item)]));
  }
  if (Array.isArray(value)) return (value as readonly LuaValue[]).map(plainOf);
  return value;
}

/** The arguments of a host function, with their types checked as Lua's own functions do. */
export class Arguments {
  readonly #values: readonly LuaValue[];

  constructor(values: readonly LuaValue[]) {
    this.#values = values;
  }

  has(position: number): boolean {
    return this.#values[position - 1] !== undefined;
  }

  value(position: number): LuaValue {
    return this.#values[position - 1];
  }

  /** Bytes; numbers are taken as their text. */
  bytes(position: number): string {
    const value = this.#values[position - 1];
    if (typeof value === 'string') return value;
    if (typeof value === 'number') return String(value);
    throw this.#mismatch(position, 'string');
  }

  optionalBytes(position: number, byDefault = ''): string {
    return this.has(position) ? this.bytes(position) : byDefault;
  }

  text(position: number): string {
    return textOf(this.bytes(position));
  }

  optionalText(position: number, byDefault = ''): string {
    return this.has(position) ? this.text(position) : byDefault;
  }

  number(position: number): number {
    const value = this.#values[position - 1];
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number === 'number' && !Number.isNaN(number)) return number;
    throw this.#mismatch(position, 'number');
  }

  optionalNumber(position: number): number | undefined {
    return this.has(position) ? this.number(position) : undefined;
  }

  flag(position: number): boolean {
    const value = this.#values[position - 1];
    return value !== undefined && value !== false;
  }

  table(position: number): ReadonlyMap<string, LuaValue> {
    const value = this.#values[position - 1];
    if (value instanceof Map) return value as ReadonlyMap<string, LuaValue>;
    if (Array.isArray(value) && value.length === 0) return new Map();
    throw new TypeError(`need a table at index ${position}, got ${typeName(value)}`);
  }

  #mismatch(position: number, expected: string): Error {
    const found = position > this.#values.length ? 'no value' : typeName(this.#values[position - 1]);
    return new TypeError(`bad argument #${position} (${expected} expected, got ${found})`);
  }
}

export function typeName(value: LuaValue): string {
  if (value === undefined) return 'nil';
  return typeof value === 'object' ? 'table' : typeof value;
}

/** A function of a package: arguments checked, one or no result. */
export function host(run: (args: Arguments) => LuaValue): HostFunction {
  return (values) => [run(new Arguments(values))];
}

/** The same with several results. */
export function hostMany(run: (args: Arguments) => readonly LuaValue[]): HostFunction {
  return (values) => run(new Arguments(values));
}

/** A package: its functions by name. */
export function packageOf(functions: Readonly<Record<string, HostFunction>>): ReadonlyMap<string, LuaValue> {
  return new Map(Object.entries(functions));
}
