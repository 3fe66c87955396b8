import { loadConfig, printConfig } from '../config/index.ts';
import type { GlobalOptions } from './global-options.ts';

/** `svc config print`: every key, its value and where it came from; secrets stay hidden. */
export function configPrint(globals: GlobalOptions, flags: { readonly json?: true }): number {
  const loaded = loadConfig(globals);
  const lines = printConfig(loaded);
  if (flags.json === true) {
    process.stdout.write(`${JSON.stringify(lines, undefined, 2)}\n`);
  } else {
    const width = Math.max(...lines.map(({ key }) => key.length));
    for (const { key, value, source } of lines) {
      process.stdout.write(`${key.padEnd(width)}  ${value === '' ? '""' : value}  # ${source}\n`);
    }
  }
  for (const warning of loaded.warnings) process.stderr.write(`warning: ${warning}\n`);
  return 0;
}
