export { compileGlob, PatternError } from './glob.ts';
export type { Glob } from './glob.ts';
