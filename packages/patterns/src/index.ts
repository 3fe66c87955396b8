export { compileGlob, compilePathGlob, PatternError } from './glob.ts';
export type { Glob } from './glob.ts';
