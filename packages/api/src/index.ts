export { createApi, isApiRequest, openApiJson } from './api.ts';
export type { ApiListener } from './api.ts';
export type {
  ApiObserver,
  ApiOptions,
  AppendTable,
  CustomViewer,
  EventsOptions,
  FinishedRequest,
  InstallationFacts,
  LoginFacts,
  StorageFacts,
} from './options.ts';
export { eventPermission } from './handlers/shared/event-permission.ts';
export { requirementOf } from './requirement-template.ts';
export { basePath } from '@svc/contract';
