import { invalid } from './scim-error.ts';

export interface Filter {
  /** In lower case: names of attributes are compared without regard to it. */
  readonly attribute: string;
  readonly value: string;
}

/** The one kind of filter that providers look people and groups up with. */
export function parseFilter(text: string): Filter {
  const [, attribute, value] = /^\s*([A-Za-z][\w.:-]*)\s+eq\s+("(?:[^"\\]|\\.)*")\s*$/i.exec(text) ?? [];
  if (attribute === undefined || value === undefined)
    throw invalid('invalidFilter', 'only filters of the form: attribute eq "value" are understood');
  try {
    return { attribute: attribute.toLowerCase(), value: JSON.parse(value) as string };
  } catch {
    throw invalid('invalidFilter', 'the value of the filter is not a JSON string');
  }
}
