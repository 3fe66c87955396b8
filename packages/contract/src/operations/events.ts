import { Type } from 'typebox';
import { errors, json } from '../answers.ts';
import { EventList, EventsGone } from '../models/events.ts';
import { offFlag, text } from '../models/values.ts';
import { operation } from '../operation.ts';
import { after, amount } from '../parameters.ts';
import { authenticated } from '../requirement-template.ts';

const query = {
  types: Type.Optional(Type.Array(text)),
  subject: Type.Optional(text),
  user: Type.Optional(text),
  show_hidden: Type.Optional(offFlag),
  after,
  amount,
};
const headers = { 'last-event-id': Type.Optional(Type.String({ allowEmptyValue: true })) };
const responses = {
  200: json(EventList),
  ...errors(400, 401, 429, 503, 'default'),
  410: json(EventsGone),
};

export const eventsOperations = {
  listEvents: operation({
    operationId: 'listEvents',
    method: 'GET',
    path: '/events',
    tag: 'events',
    summary: 'List what happened, as far as the caller may read it; as text/event-stream what happens',
    requires: authenticated,
    query,
    headers,
    responses,
  }),
  listRepositoryEvents: operation({
    operationId: 'listRepositoryEvents',
    method: 'GET',
    path: '/repositories/{repository}/events',
    tag: 'events',
    summary: 'As listEvents, of one repository',
    requires: authenticated,
    query,
    headers,
    responses,
  }),
} as const;
