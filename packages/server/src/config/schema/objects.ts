import { Key, ValueError, parseJson } from '../key.ts';
import type { Group, RawValue, Values } from '../key.ts';
import { parseGroup } from '../parse-group.ts';

interface ObjectsOptions {
  readonly ignored?: string;
}

/** A list of objects: a YAML list, or the whole list as one JSON array in a variable. */
export function objects<const S extends Group>(
  items: S,
  meaning: string,
  options: ObjectsOptions = {},
): Key<readonly Values<S>[]> {
  return new Key<readonly Values<S>[]>({
    ...options,
    type: 'list of objects',
    meaning,
    default: [],
    defaultText: '[]',
    items,
    parse(raw: RawValue) {
      const entries = typeof raw === 'string' ? parseJson(raw) : raw;
      if (!Array.isArray(entries))
        throw new ValueError('must be a list of objects (in a variable: a JSON array)');
      return entries.map((entry: RawValue, index) => {
        if (typeof entry === 'string' || Array.isArray(entry)) {
          throw new ValueError(`must be a list of objects; entry ${index} is none`);
        }
        return parseGroup(items, entry as Readonly<Record<string, RawValue>>, `[${index}]`);
      });
    },
  });
}
