export * from './errors.ts';
export { cloudEvent, eventTypes, scopeOf, type CloudEvent, type EventScope } from './event.ts';
export { EventFilter, type EventFilterOptions } from './event-filter.ts';
export { EventLog } from './event-log.ts';
export { hintEveryMs, Keeper, type KeeperObserver, type KeeperOptions } from './keeper.ts';
export { KeeperTerm, type KeeperTermOptions } from './keeper-term.ts';
export { fillsOutbox } from './outbox.ts';
export { readEvents, type EventPage, type MayRead, type NumberedEvent } from './read-events.ts';
export type { EventsLogger, EventSource } from './source.ts';
export {
  EventStreams,
  type EventStream,
  type EventStreamsOptions,
  type StreamRequest,
} from './event-streams.ts';
export { trimDeadLetters, trimEvents } from './trim-events.ts';
export { Deliveries } from './subscriptions/deliveries.ts';
export type { DeliveryParts } from './subscriptions/delivery-run.ts';
export {
  Webhooks,
  type Attempt,
  type SecretBoxes,
  type WebhookOptions,
} from './subscriptions/send-webhook.ts';
export type { ChangesBetween, ObjectChange } from './subscriptions/s3-records.ts';
export { SubscriptionStore } from './subscriptions/subscription-store.ts';
export {
  Subscriptions,
  type NewSubscription,
  type SubscriptionChange,
  type SubscriptionParts,
} from './subscriptions/subscriptions.ts';
