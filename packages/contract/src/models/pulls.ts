import { Type } from 'typebox';
import { Pagination } from './common.ts';
import { dateTime, text, textOf } from './values.ts';

export const PullRequestBasic = Type.Object(
  {
    status: Type.Optional(textOf(['open', 'closed', 'merged'])),
    title: Type.Optional(text),
    description: Type.Optional(text),
  },
  { title: 'PullRequestBasic' },
);

export const PullRequest = Type.Object(
  {
    status: textOf(['open', 'closed', 'merged']),
    title: text,
    description: text,
    id: text,
    creation_date: dateTime,
    author: text,
    source_branch: text,
    destination_branch: text,
    merged_commit_id: Type.Optional(text),
    closed_date: Type.Optional(dateTime),
  },
  { title: 'PullRequest' },
);

export const PullRequestsList = Type.Object(
  {
    pagination: Pagination,
    results: Type.Array(PullRequest),
  },
  { title: 'PullRequestsList' },
);

export const PullRequestCreation = Type.Object(
  {
    title: text,
    description: Type.Optional(text),
    source_branch: text,
    destination_branch: text,
  },
  { title: 'PullRequestCreation' },
);

export const PullRequestCreationResponse = Type.Object(
  {
    id: text,
  },
  { title: 'PullRequestCreationResponse' },
);
