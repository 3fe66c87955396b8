export { createScim, scimPath, type ScimListener, type ScimOptions } from './scim.ts';
