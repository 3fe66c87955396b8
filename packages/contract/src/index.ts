export { models } from './models.ts';
export * from './openapi.ts';
export * from './operation.ts';
export * from './operations.ts';
export type { OperationRequirement, RequirementLeaf, RequirementTemplate } from './requirement-template.ts';
export { referencePage } from './reference.ts';
