import { jsonText } from '../../running/hook-event.ts';
import { bytesOf, host, luaOf, packageOf, textOf, typeName, type LuaValue } from '../lua-value.ts';

/** A table (or nil) as plain data whose maps are sorted by key. */
export function sortedData(value: LuaValue): unknown {
  if (value === undefined) return null;
  if (typeof value === 'string') return textOf(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value))
      throw new TypeError(`json: unsupported value: ${value > 0 ? '+Inf' : value < 0 ? '-Inf' : 'NaN'}`);
    return value;
  }
  if (typeof value === 'function') throw new TypeError('pull table, unsupported type function');
  if (value instanceof Map) {
    const entries = [...(value as ReadonlyMap<string, LuaValue>)];
    // Keys are bytes here: their order is that of the encoder.
    entries.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
    return new SortedMap(entries.map(([key, item]) => [textOf(key), sortedData(item)]));
  }
  if (Array.isArray(value)) return (value as readonly LuaValue[]).map(sortedData);
  return value;
}

/** Keeps the order also for keys that look like numbers. */
class SortedMap {
  readonly entries: readonly (readonly [string, unknown])[];

  constructor(entries: readonly (readonly [string, unknown])[]) {
    this.entries = entries;
  }
}

function write(value: unknown, prefix: string, indent: string, depth: number): string {
  const isPretty = prefix !== '' || indent !== '';
  const line = (level: number): string => (isPretty ? `\n${prefix}${indent.repeat(level)}` : '');
  const wrap = (open: string, items: readonly string[], close: string): string =>
    items.length === 0
      ? `${open}${close}`
      : `${open}${items.map((item) => `${line(depth + 1)}${item}`).join(',')}${line(depth)}${close}`;
  if (value instanceof SortedMap) {
    const space = isPretty ? ' ' : '';
    const items = value.entries.map(
      ([key, item]) => `${jsonText(key)}:${space}${write(item, prefix, indent, depth + 1)}`,
    );
    return wrap('{', items, '}');
  }
  if (Array.isArray(value))
    return wrap(
      '[',
      value.map((item) => write(item, prefix, indent, depth + 1)),
      ']',
    );
  return jsonText(value);
}

/** JSON as the standard encoder of Go writes it: keys sorted, safe inside HTML, a newline at the end. */
export function marshalJson(value: LuaValue, prefix = '', indent = ''): string {
  if (value !== undefined && typeof value !== 'object') {
    throw new TypeError(`need a table at index 1, got ${typeName(value)}`);
  }
  return bytesOf(`${write(sortedData(value), prefix, indent, 0)}\n`);
}

export const jsonPackage = (): LuaValue =>
  packageOf({
    marshal: host((args) => {
      const options = args.has(2) ? args.table(2) : new Map<string, LuaValue>();
      const option = (name: string): string => {
        const value = options.get(name);
        return typeof value === 'string' ? textOf(value) : '';
      };
      return marshalJson(args.value(1), option('prefix'), option('indent'));
    }),
    unmarshal: host((args) => luaOf(JSON.parse(args.text(1)) as unknown)),
  });
