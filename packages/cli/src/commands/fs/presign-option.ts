import type { Option } from 'commander';
import { booleanOption } from '../boolean-option.ts';

/** `--pre-sign`, `--pre-sign=false`; it is never an error when the server cannot pre-sign. */
export function presignOption(): Option {
  return booleanOption('--pre-sign', 'move data straight to and from the object store where the server can');
}
