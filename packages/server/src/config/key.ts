import { isDurationText, parseDuration } from './duration.ts';

/** A value as it stands in a file or variable: text, a list, or a map of those. */
export type RawValue = string | readonly RawValue[] | { readonly [name: string]: RawValue };

/** Says what a value may be; the loader adds the key and the value. */
export class ValueError extends Error {
  override readonly name = 'ValueError';
}

export interface KeyOptions<T> {
  readonly type: string;
  readonly meaning: string;
  readonly default: T;
  /** How the default is written in the documentation. */
  readonly defaultText: string;
  readonly secret?: boolean | undefined;
  readonly required?: boolean | undefined;
  /** Other full names of the same key; giving two of them is an error. */
  readonly aliases?: readonly string[] | undefined;
  /** Accepted for compatibility, without effect; set to say why. */
  readonly ignored?: string | undefined;
  /** Its feature is not part of this version; set to name the feature. */
  readonly unavailable?: string | undefined;
  /** A leading `~` means the home folder. */
  readonly path?: boolean | undefined;
  /** Members of each entry of a list of objects. */
  readonly items?: Group | undefined;
  readonly parse: (raw: RawValue) => T;
}

/** One configuration key, declared once: everything the loader, the masking and the documentation need. */
export class Key<T> {
  readonly type: string;
  readonly meaning: string;
  readonly default: T;
  readonly defaultText: string;
  readonly secret: boolean;
  readonly required: boolean;
  readonly aliases: readonly string[];
  readonly ignored: string | undefined;
  readonly unavailable: string | undefined;
  readonly path: boolean;
  readonly items: Group | undefined;
  readonly parse: (raw: RawValue) => T;

  constructor(options: KeyOptions<T>) {
    this.type = options.type;
    this.meaning = options.meaning;
    this.default = options.default;
    this.defaultText = options.defaultText;
    this.secret = options.secret ?? false;
    this.required = options.required ?? false;
    this.aliases = options.aliases ?? [];
    this.ignored = options.ignored;
    this.unavailable = options.unavailable;
    this.path = options.path ?? false;
    this.items = options.items;
    this.parse = options.parse;
  }
}

export interface Group {
  readonly [name: string]: Key<unknown> | Group;
}

export type Values<S> =
  S extends Key<infer T> ? T : S extends Group ? { readonly [K in keyof S]: Values<S[K]> } : never;

interface Common {
  readonly secret?: boolean;
  readonly required?: boolean;
  readonly aliases?: readonly string[];
  readonly ignored?: string;
  readonly unavailable?: string;
}

interface TextOptions extends Common {
  readonly default?: string;
  readonly path?: boolean;
  readonly check?: (value: string) => string | undefined;
}

function scalar(raw: RawValue, expected: string): string {
  if (typeof raw !== 'string') throw new ValueError(`must be ${expected}`);
  return raw;
}

/** Free text; `check` returns what is wrong with a non-empty value. */
export function text(meaning: string, options: TextOptions = {}): Key<string> {
  const fallback = options.default ?? '';
  return new Key({
    ...options,
    type: 'string',
    meaning,
    default: fallback,
    defaultText: fallback === '' ? '' : `"${fallback}"`,
    parse(raw) {
      const value = scalar(raw, 'text');
      const problem = value === '' ? undefined : options.check?.(value);
      if (problem !== undefined) throw new ValueError(problem);
      return value;
    },
  });
}

const trueWords = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const falseWords = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

export function flag(fallback: boolean, meaning: string, options: Common = {}): Key<boolean> {
  return new Key({
    ...options,
    type: 'bool',
    meaning,
    default: fallback,
    defaultText: String(fallback),
    parse(raw) {
      const value = scalar(raw, 'true or false');
      if (trueWords.has(value)) return true;
      if (falseWords.has(value)) return false;
      throw new ValueError('must be true or false');
    },
  });
}

interface NumberOptions extends Common {
  readonly min?: number;
  readonly max?: number;
}

function rangeText(what: string, options: NumberOptions): string {
  if (options.min !== undefined && options.max !== undefined) {
    return `${what} from ${options.min} to ${options.max}`;
  }
  if (options.min !== undefined) return `${what}, at least ${options.min}`;
  return what;
}

function parseInteger(raw: RawValue, options: NumberOptions): number {
  const expected = `must be ${rangeText('a whole number without unit', options)}`;
  const value = scalar(raw, 'a whole number without unit');
  if (!/^[+-]?\d+$/.test(value)) throw new ValueError(expected);
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new ValueError(expected);
  if (number < (options.min ?? -Infinity) || number > (options.max ?? Infinity))
    throw new ValueError(expected);
  return number;
}

export function integer(fallback: number, meaning: string, options: NumberOptions = {}): Key<number> {
  return new Key({
    ...options,
    type: 'int',
    meaning,
    default: fallback,
    defaultText: String(fallback),
    parse: (raw) => parseInteger(raw, options),
  });
}

/** A whole number that may be left unset. */
export function optionalInteger(meaning: string, options: NumberOptions = {}): Key<number | undefined> {
  return new Key<number | undefined>({
    ...options,
    type: 'int',
    meaning,
    default: undefined,
    defaultText: '',
    parse: (raw) => parseInteger(raw, options),
  });
}

export function fraction(fallback: number, meaning: string, options: NumberOptions = {}): Key<number> {
  const expected = `must be ${rangeText('a decimal number', options)}`;
  return new Key({
    ...options,
    type: 'float',
    meaning,
    default: fallback,
    defaultText: String(fallback),
    parse(raw) {
      const value = scalar(raw, 'a decimal number');
      const number = Number(value);
      if (!/^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(value) || !Number.isFinite(number)) {
        throw new ValueError(expected);
      }
      if (number < (options.min ?? -Infinity) || number > (options.max ?? Infinity)) {
        throw new ValueError(expected);
      }
      return number;
    },
  });
}

interface DurationOptions extends Common {
  /** `positive` refuses 0, `zero` (default) refuses only negative values. */
  readonly from?: 'zero' | 'positive';
}

/** A length of time, held in milliseconds. */
export function duration(fallback: string, meaning: string, options: DurationOptions = {}): Key<number> {
  const form = 'a duration such as 90s, 5m or 1h30m (units ns, us, ms, s, m, h)';
  return new Key({
    ...options,
    type: 'duration',
    meaning,
    default: parseDuration(fallback),
    defaultText: fallback,
    parse(raw) {
      const value = scalar(raw, form);
      if (!isDurationText(value)) throw new ValueError(`must be ${form}`);
      const milliseconds = parseDuration(value);
      if (milliseconds < 0) throw new ValueError('must not be negative');
      if (milliseconds === 0 && options.from === 'positive') throw new ValueError('must be longer than 0');
      return milliseconds;
    },
  });
}

interface ChoiceOptions<T extends string> extends Common {
  /** Other spellings, lower case, of one of the values. */
  readonly spellings?: Readonly<Record<string, T>>;
  /** Worded in place of the usual list when a value is not known. */
  readonly unknown?: (value: string) => string;
}

/** One of a fixed set of words, compared without case. `''` as default means it has none. */
export function choice<const T extends string, const D extends string>(
  values: readonly T[],
  fallback: D,
  meaning: string,
  options: ChoiceOptions<T> = {},
): Key<T | D> {
  const known = new Map<string, T>(values.map((value) => [value.toLowerCase(), value]));
  for (const [spelling, value] of Object.entries(options.spellings ?? {})) known.set(spelling, value);
  return new Key<T | D>({
    ...options,
    type: values.join(' \\| '),
    meaning,
    default: fallback,
    defaultText: fallback,
    parse(raw) {
      const value = scalar(raw, `one of ${values.join(', ')}`);
      const found = known.get(value.toLowerCase());
      if (found !== undefined) return found;
      throw new ValueError(options.unknown?.(value) ?? `must be one of ${values.join(', ')}`);
    },
  });
}

interface ListOptions extends Common {
  readonly default?: readonly string[];
  readonly check?: (values: readonly string[]) => string | undefined;
}

function parseList(raw: RawValue): string[] {
  if (Array.isArray(raw)) return raw.map((item: RawValue) => scalar(item, 'a list of text'));
  if (typeof raw !== 'string') throw new ValueError('must be a list of text');
  if (raw.trimStart().startsWith('[')) {
    const parsed = parseJson(raw);
    if (Array.isArray(parsed)) return parsed.map((item: RawValue) => scalar(item, 'a list of text'));
  }
  return raw
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** A list of text: a YAML list, a JSON array, or words separated by commas. */
export function list(meaning: string, options: ListOptions = {}): Key<readonly string[]> {
  const fallback = options.default ?? [];
  return new Key<readonly string[]>({
    ...options,
    type: 'list of strings',
    meaning,
    default: fallback,
    defaultText: fallback.length === 0 ? '[]' : fallback.join(', '),
    parse(raw) {
      const values = parseList(raw);
      const problem = options.check?.(values);
      if (problem !== undefined) throw new ValueError(problem);
      return values;
    },
  });
}

/** A map of text to text, keys with their case kept. */
export function pairs(meaning: string, options: Common = {}): Key<Readonly<Record<string, string>>> {
  return new Key<Readonly<Record<string, string>>>({
    ...options,
    type: 'map of strings',
    meaning,
    default: {},
    defaultText: '',
    parse(raw) {
      if (typeof raw !== 'string') {
        if (Array.isArray(raw)) throw new ValueError('must be a map of text, or k1=v1,k2=v2');
        return Object.fromEntries(
          Object.entries(raw).map(([name, value]) => [name, scalar(value, 'a map of text')]),
        );
      }
      const result: Record<string, string> = {};
      for (const pair of raw.split(',')) {
        if (pair.trim() === '') continue;
        const at = pair.indexOf('=');
        if (at < 0) {
          throw new ValueError(
            options.secret === true ? 'must be k1=v1,k2=v2' : `invalid key-value pair: ${pair.trim()}`,
          );
        }
        result[pair.slice(0, at).trim()] = pair.slice(at + 1).trim();
      }
      return result;
    },
  });
}

/** JSON with every scalar as text, so that one set of parsers serves files and variables. */
export function parseJson(source: string): RawValue {
  try {
    return textual(JSON.parse(source));
  } catch {
    throw new ValueError('must be valid JSON');
  }
}

function textual(value: unknown): RawValue {
  if (Array.isArray(value)) return value.map((item: unknown) => textual(item));
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value).filter(([, member]) => member !== null);
    return Object.fromEntries(entries.map(([name, member]) => [name, textual(member)]));
  }
  return String(value);
}
