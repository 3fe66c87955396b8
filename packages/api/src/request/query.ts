import type { Parameter } from './parameter.ts';
import { parameterError } from './request-error.ts';

export type ParameterValues = Record<string, string | number | boolean | string[] | undefined>;

/** Reads the declared query parameters of one operation straight from the request's URL. */
export class QueryReader {
  readonly #parameters: ReadonlyMap<string, Parameter>;
  readonly #required: readonly Parameter[];
  readonly #defaults: readonly Parameter[];

  constructor(parameters: readonly Parameter[]) {
    this.#parameters = new Map(parameters.map((parameter) => [parameter.name, parameter]));
    this.#required = parameters.filter((parameter) => parameter.required);
    this.#defaults = parameters.filter((parameter) => parameter.defaultValue !== undefined);
  }

  read(url: string): ParameterValues {
    const values: ParameterValues = {};
    let start = url.indexOf('?') + 1;
    if (start > 0 && this.#parameters.size > 0) {
      while (start < url.length) {
        let end = url.indexOf('&', start);
        if (end === -1) end = url.length;
        if (end > start) this.#take(url, start, end, values);
        start = end + 1;
      }
    }
    for (const { name } of this.#required) {
      if (values[name] === undefined) throw parameterError('query', name, 'value is required but missing');
    }
    for (const { name, defaultValue } of this.#defaults) values[name] ??= defaultValue;
    return values;
  }

  #take(url: string, start: number, end: number, values: ParameterValues): void {
    const equals = url.indexOf('=', start);
    const nameEnd = equals === -1 || equals > end ? end : equals;
    const name = decode(url.slice(start, nameEnd));
    const parameter = name === undefined ? undefined : this.#parameters.get(name);
    if (parameter === undefined) return;
    const text = decode(url.slice(Math.min(nameEnd + 1, end), end));
    if (text === undefined) {
      throw parameterError('query', parameter.name, 'the percent-encoding is not valid UTF-8');
    }
    const earlier = values[parameter.name];
    if (earlier !== undefined && !parameter.isArray) {
      throw parameterError('query', parameter.name, 'given more than once');
    }
    if (text === '') {
      if (parameter.mayBeEmpty) return;
      throw parameterError('query', parameter.name, 'empty value is not allowed');
    }
    const value = parameter.parse(text);
    if (!parameter.isArray) values[parameter.name] = value;
    else if (Array.isArray(earlier)) earlier.push(value as string);
    else values[parameter.name] = [value as string];
  }
}

const encoded = /[%+]/;

/** Undefined when the escapes are broken or not UTF-8. */
function decode(text: string): string | undefined {
  if (!encoded.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', '%20'));
  } catch {
    return undefined;
  }
}
