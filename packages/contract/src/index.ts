export { models } from './models.ts';
export * from './openapi.ts';
export * from './operation.ts';
export * from './operations.ts';
export type { Permission, PermissionLeaf, PermissionNode } from './permission.ts';
export { referencePage } from './reference.ts';
