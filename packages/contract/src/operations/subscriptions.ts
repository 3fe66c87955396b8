import { Type } from 'typebox';
import { body, empty, errors, json } from '../answers.ts';
import {
  CreatedSubscription,
  DeliveryList,
  RedeliverRequest,
  RedeliverResult,
  Subscription,
  SubscriptionCreation,
  SubscriptionList,
  SubscriptionSecret,
  SubscriptionTest,
  SubscriptionUpdate,
} from '../models/subscriptions.ts';
import { text, textOf } from '../models/values.ts';
import { operation } from '../operation.ts';
import { anything, deferred, one } from '../requirement-template.ts';

const reason = 'of one repository: on it';
const mayRead = deferred(reason, one('fs:ReadSubscription', anything));
const mayWrite = deferred(reason, one('fs:WriteSubscription', anything));

export const subscriptionsOperations = {
  createSubscription: operation({
    operationId: 'createSubscription',
    method: 'POST',
    idempotent: false,
    path: '/events/subscriptions',
    tag: 'events',
    summary: 'Have events sent to a web address',
    requires: mayWrite,
    body: body(SubscriptionCreation),
    responses: {
      201: json(CreatedSubscription),
      ...errors(400, 401, 409, 429, 'default'),
    },
  }),
  listSubscriptions: operation({
    operationId: 'listSubscriptions',
    method: 'GET',
    path: '/events/subscriptions',
    tag: 'events',
    summary: 'List subscriptions',
    requires: mayRead,
    query: { repository: Type.Optional(text) },
    responses: {
      200: json(SubscriptionList),
      ...errors(401, 429, 'default'),
    },
  }),
  getSubscription: operation({
    operationId: 'getSubscription',
    method: 'GET',
    path: '/events/subscriptions/{subscription}',
    tag: 'events',
    summary: 'Get a subscription',
    requires: mayRead,
    responses: {
      200: json(Subscription),
      ...errors(401, 404, 429, 'default'),
    },
  }),
  updateSubscription: operation({
    operationId: 'updateSubscription',
    method: 'PATCH',
    idempotent: true,
    path: '/events/subscriptions/{subscription}',
    tag: 'events',
    summary: 'Change a subscription',
    requires: mayWrite,
    body: body(SubscriptionUpdate),
    responses: {
      200: json(Subscription),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  deleteSubscription: operation({
    operationId: 'deleteSubscription',
    method: 'DELETE',
    idempotent: true,
    path: '/events/subscriptions/{subscription}',
    tag: 'events',
    summary: 'Delete a subscription with what it has not delivered',
    requires: mayWrite,
    responses: {
      204: empty(),
      ...errors(401, 404, 429, 'default'),
    },
  }),
  testSubscription: operation({
    operationId: 'testSubscription',
    method: 'POST',
    idempotent: false,
    path: '/events/subscriptions/{subscription}/test',
    tag: 'events',
    summary: 'Send a test event now',
    requires: mayWrite,
    responses: {
      200: json(SubscriptionTest),
      ...errors(401, 404, 429, 'default'),
    },
  }),
  rotateSubscriptionSecret: operation({
    operationId: 'rotateSubscriptionSecret',
    method: 'POST',
    idempotent: false,
    path: '/events/subscriptions/{subscription}/rotate_secret',
    tag: 'events',
    summary: 'Sign with a new secret; the old one signs as well for a day',
    requires: mayWrite,
    responses: {
      200: json(SubscriptionSecret),
      ...errors(401, 404, 429, 'default'),
    },
  }),
  listDeliveries: operation({
    operationId: 'listDeliveries',
    method: 'GET',
    path: '/events/subscriptions/{subscription}/deliveries',
    tag: 'events',
    summary: 'List deliveries that fail or are given up',
    requires: mayRead,
    query: { state: Type.Optional(textOf(['failing', 'dead'])) },
    responses: {
      200: json(DeliveryList),
      ...errors(401, 404, 429, 'default'),
    },
  }),
  redeliver: operation({
    operationId: 'redeliver',
    method: 'POST',
    idempotent: false,
    path: '/events/subscriptions/{subscription}/deliveries/redeliver',
    tag: 'events',
    summary: 'Try deliveries that failed again',
    requires: mayWrite,
    body: body(RedeliverRequest),
    responses: {
      202: json(RedeliverResult),
      ...errors(400, 401, 404, 409, 429, 'default'),
    },
  }),
  discardDelivery: operation({
    operationId: 'discardDelivery',
    method: 'DELETE',
    idempotent: true,
    path: '/events/subscriptions/{subscription}/deliveries',
    tag: 'events',
    summary: 'Give up a delivery',
    requires: mayWrite,
    query: { sequence: text },
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
} as const;
