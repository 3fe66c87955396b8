import { InvalidArgumentError, Option } from 'commander';
import { parseBoolean } from '../terminal.ts';

/** A switch that is on unless `--name=false`. */
export function booleanOption(name: string, description: string): Option {
  return new Option(`${name} [bool]`, description)
    .argParser((text) => {
      const value = parseBoolean(text);
      if (value === undefined) throw new InvalidArgumentError('expected true or false.');
      return value;
    })
    .default(true);
}
