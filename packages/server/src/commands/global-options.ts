import type { Preset } from '../config/index.ts';

/** Options that come before any subcommand. */
export interface GlobalOptions {
  readonly file: string | undefined;
  readonly preset: Preset | undefined;
}
