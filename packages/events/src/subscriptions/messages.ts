import type { EventData, SubscriptionData } from '@svc/encoding';
import { cloudEvent } from '../event.ts';
import { s3Messages, type ChangesBetween } from './s3-records.ts';

/** One request to a receiver. */
export interface Message {
  /** The same when it is sent again. */
  readonly id: string;
  readonly contentType: string;
  readonly body: string;
}

export const subscriptionFormats = ['cloudevents', 's3'] as const;

/** What a subscription sends of an event; nothing when its format has no words for it. */
export async function* messagesOf(
  subscription: SubscriptionData,
  event: EventData,
  sequence: number,
  context: { readonly installationId: string; readonly changesBetween: ChangesBetween },
): AsyncGenerator<Message> {
  if (subscription.format === 's3') {
    yield* s3Messages(subscription, event, sequence, context.changesBetween);
    return;
  }
  const message = cloudEvent(event, sequence, context.installationId);
  yield { id: message.id, contentType: 'application/cloudevents+json', body: JSON.stringify(message) };
}
