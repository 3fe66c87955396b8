import { InvalidArgumentError, Option } from 'commander';
import { parseBoolean } from '../../config/config.ts';

/** `--pre-sign`, `--pre-sign=false`; what the server cannot do is never an error. */
export function presignOption(): Option {
  return new Option(
    '--pre-sign [bool]',
    'move data straight to and from the object store where the server can',
  )
    .argParser((text) => {
      const value = parseBoolean(text);
      if (value === undefined) throw new InvalidArgumentError('expected true or false.');
      return value;
    })
    .preset('true')
    .default(true);
}
