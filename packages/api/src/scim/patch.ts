import { isObject, member, type JsonObject } from './json.ts';
import { invalid } from './scim-error.ts';

/** One change of one attribute. */
export interface Change {
  readonly op: 'add' | 'replace' | 'remove';
  /** In lower case, without what selects one of several values. */
  readonly path: string;
  /** What selects one of several values: `members[value eq "x"]`. */
  readonly selected: string | undefined;
  readonly value: unknown;
}

const maxOperations = 1000;
const coreSchema = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/i;

/** The changes that a patch asks for, in order. An operation without a path changes each attribute of its value. */
export function changesOf(body: JsonObject): Change[] {
  const listed = member(body, 'Operations');
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > maxOperations)
    throw invalid('invalidSyntax', `Operations must list 1 to ${maxOperations} operations`);
  return listed.flatMap((operation: unknown): Change[] => {
    if (!isObject(operation)) throw invalid('invalidSyntax', 'an operation must be an object');
    const name = member(operation, 'op');
    const op = typeof name === 'string' ? name.toLowerCase() : '';
    if (op !== 'add' && op !== 'replace' && op !== 'remove')
      throw invalid('invalidSyntax', 'op must be add, replace or remove');
    const path = member(operation, 'path');
    const value = member(operation, 'value');
    if (path === undefined || path === '') {
      if (op === 'remove') throw invalid('invalidPath', 'remove needs a path');
      if (!isObject(value)) throw invalid('invalidValue', 'without a path the value must be an object');
      return Object.entries(value).map(([each, of]) => ({ op, ...parsePath(each), value: of }));
    }
    if (typeof path !== 'string') throw invalid('invalidPath', 'path must be a text');
    return [{ op, ...parsePath(path), value }];
  });
}

function parsePath(text: string): Pick<Change, 'path' | 'selected'> {
  const match = /^([A-Za-z$][\w.:$-]*?)(?:\[\s*(\w+)\s+eq\s+"([^"]*)"\s*\])?(\.\w+)?$/i.exec(
    text.trim().replace(coreSchema, ''),
  );
  if (match === null) throw invalid('invalidPath', 'the path of an operation is not understood');
  const [, name = '', , selected, rest = ''] = match;
  return { path: (name + rest).toLowerCase(), selected };
}
