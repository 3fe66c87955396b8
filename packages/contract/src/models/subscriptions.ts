import { Type } from 'typebox';
import { Pagination } from './common.ts';
import { Event } from './events.ts';
import { dateTime, flag, int64, integer, stringMap, text, textOf } from './values.ts';

/** `s3`: what changed in the objects of a branch, as S3 tells of it. */
const format = textOf(['cloudevents', 's3']);
const ordering = textOf(['ref', 'all']);

const choices = {
  types: Type.Optional(Type.Array(text)),
  subject: Type.Optional(text),
  format: Type.Optional(format),
  ordering: Type.Optional(ordering),
  headers: Type.Optional(stringMap),
  description: Type.Optional(text),
  enabled: Type.Optional(flag),
};

export const SubscriptionCreation = Type.Object(
  {
    url: text,
    repository: Type.Optional(text),
    ...choices,
    /** `latest` (default), `oldest` or a sequence number. */
    from: Type.Optional(text),
  },
  { title: 'SubscriptionCreation' },
);

export const SubscriptionUpdate = Type.Object(
  { url: Type.Optional(text), ...choices },
  { title: 'SubscriptionUpdate' },
);

const subscriptionFields = {
  id: text,
  url: text,
  repository: Type.Optional(text),
  types: Type.Array(text),
  subject: Type.Optional(text),
  format,
  ordering,
  /** The values are masked. */
  headers: stringMap,
  description: Type.Optional(text),
  enabled: flag,
  owner: text,
  state: textOf(['active', 'failing', 'disabled']),
  disabled_reason: Type.Optional(text),
  cursor: text,
  lag: int64,
  created_at: dateTime,
};

export const Subscription = Type.Object(subscriptionFields, { title: 'Subscription' });

export const CreatedSubscription = Type.Object(
  { ...subscriptionFields, secret: text },
  { title: 'CreatedSubscription' },
);

export const SubscriptionList = Type.Object(
  { pagination: Pagination, results: Type.Array(Subscription) },
  { title: 'SubscriptionList' },
);

export const SubscriptionSecret = Type.Object({ secret: text }, { title: 'SubscriptionSecret' });

export const SubscriptionTest = Type.Object(
  { status_code: integer, duration_ms: integer, error: Type.Optional(text) },
  { title: 'SubscriptionTest' },
);

export const Delivery = Type.Object(
  {
    sequence: text,
    state: textOf(['failing', 'dead']),
    event: Type.Optional(Event),
    attempts: integer,
    next_attempt: Type.Optional(dateTime),
    last_status: Type.Optional(integer),
    last_error: Type.Optional(text),
    last_response: Type.Optional(text),
  },
  { title: 'Delivery' },
);

export const DeliveryList = Type.Object(
  { pagination: Pagination, results: Type.Array(Delivery) },
  { title: 'DeliveryList' },
);

export const RedeliverRequest = Type.Object(
  { sequences: Type.Optional(Type.Array(text)), all: Type.Optional(flag) },
  { title: 'RedeliverRequest' },
);

export const RedeliverResult = Type.Object({ count: integer }, { title: 'RedeliverResult' });
