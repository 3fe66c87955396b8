export { main } from './main.ts';
export { commandModules, createProgram } from './program.ts';
export { commandReference } from './reference.ts';
