import { Type } from 'typebox';
import { Pagination } from './common.ts';
import { dateTime, freeObject, text } from './values.ts';

/** CloudEvents 1.0. */
export const Event = Type.Object(
  {
    specversion: text,
    id: text,
    source: text,
    type: text,
    subject: Type.Optional(text),
    time: dateTime,
    datacontenttype: text,
    sequence: text,
    svcinstallation: text,
    data: freeObject,
  },
  { title: 'Event' },
);

export const EventList = Type.Object(
  { pagination: Pagination, results: Type.Array(Event) },
  { title: 'EventList' },
);

export const EventsGone = Type.Object({ message: text, oldest: text }, { title: 'EventsGone' });
