export type * from './auth.ts';
export { createAuth } from './create-auth.ts';
export * from './errors.ts';
export * from './identity.ts';
export * from './model.ts';
export * from './requirement.ts';
export type * from './sources/contract.ts';
