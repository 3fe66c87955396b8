import type { IncomingHttpHeaders } from 'node:http';
import type { Parameter } from './parameter.ts';
import type { ParameterValues } from './query.ts';
import { parameterError } from './request-error.ts';

/** Reads the declared header parameters. An empty one is refused unless the contract gives it a meaning. */
export function readHeaders(parameters: readonly Parameter[], headers: IncomingHttpHeaders): ParameterValues {
  const values: ParameterValues = {};
  for (const parameter of parameters) {
    const text = headers[parameter.name];
    if (typeof text !== 'string') continue;
    if (text === '' && !parameter.mayBeEmpty) {
      throw parameterError('header', parameter.name, 'empty value is not allowed');
    }
    values[parameter.name] = parameter.parse(text);
  }
  return values;
}
