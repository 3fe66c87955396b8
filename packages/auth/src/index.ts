export type * from './auth.ts';
export { createAuth } from './create-auth.ts';
export * from './errors.ts';
export * from './identity.ts';
export * from './model.ts';
export { isTemporaryKeyId } from './login/temporary-keys.ts';
export * from './requirement.ts';
