export type { CorsRules } from './cors.ts';
export { createGateway, type Gateway, type GatewayOptions } from './gateway.ts';
export { operations as gatewayOperations } from './routing/operations.ts';
export { GatewayDomains } from './routing/domains.ts';
export type { GatewayLogger, GatewayObserver, RequestRecord } from './services.ts';
