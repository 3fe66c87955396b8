import { Type } from 'typebox';
import { flag, text } from './values.ts';

export const Pagination = Type.Object(
  {
    has_more: flag,
    next_offset: text,
    results: Type.Integer({ minimum: 0 }),
    max_per_page: Type.Integer({ minimum: 0 }),
  },
  { title: 'Pagination' },
);

export const ErrorBody = Type.Object(
  {
    message: text,
  },
  { title: 'Error' },
);

export const StorageURI = Type.Object(
  {
    location: text,
  },
  { title: 'StorageURI' },
);

export const TaskInfo = Type.Object(
  {
    id: text,
  },
  { title: 'TaskInfo' },
);

export const TaskCreation = Type.Object(
  {
    id: text,
  },
  { title: 'TaskCreation' },
);
