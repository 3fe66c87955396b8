import { ApiError, ConnectionError } from '@svc/client';

export interface Explanation {
  readonly title: string;
  readonly text: string;
  readonly advice?: string | undefined;
  readonly details: string;
  /** The run of hooks that refused it. */
  readonly run?: string | undefined;
  /** The permission that is lacking. */
  readonly required?: ApiError['required'];
}

const byStatus: Readonly<Record<number, readonly [title: string, advice: string]>> = {
  400: ['The request was refused', 'Correct the value named above and try again.'],
  401: ['You lack a permission', 'Ask an administrator to attach a policy that allows it.'],
  403: ['This is not allowed here', ''],
  404: ['Not found', 'It may have been deleted or renamed. Check the name and the selected branch.'],
  409: ['This conflicts with what is there', 'Reload to see the present state, then decide again.'],
  410: ['It is gone', 'The data was deleted or collected by garbage collection.'],
  412: [
    'A condition was not met',
    'Somebody changed it in the meantime, or a hook refused it. Reload and try again.',
  ],
  413: ['Too large', 'Send less at once, or use the command line client for large data.'],
  429: ['Too many requests', 'Wait a moment and try again.'],
  503: ['The server is busy', 'Wait a moment and try again.'],
};

/** Refusals of hooks name their run in the text, as the API describes it. */
function runNamedIn(text: string): string | undefined {
  return / hook aborted, run id '([0-9a-v]{20})'/.exec(text)?.[1];
}

const byMessage: readonly (readonly [says: RegExp, advice: string])[] = [
  [/protected branch/, 'Work on another branch, or change the rule in Settings → Branch protection.'],
  [/read-only repository/, 'It takes no changes. Work on a copy of it in another repository.'],
  // It says itself what to do.
  [/no such login/, ''],
];

/** An answer without a body, as those to HEAD, names no permission. */
function textOf({ status, message, body }: ApiError): string {
  return status === 401 && body === undefined ? 'Your account may not see or change this.' : message;
}

/** Explains an error and what to do about it. */
export function explain(error: unknown): Explanation {
  if (error instanceof ApiError) {
    const [title, usual] = byStatus[error.status] ?? [
      'The server failed',
      'Try again. If it stays, give the request id to whoever runs the server.',
    ];
    const run = error.status === 412 ? runNamedIn(error.message) : undefined;
    if (run !== undefined) {
      const advice = 'Its log says why. Mend what it objects to, then try again.';
      return { title: 'A hook refused it', text: error.message, advice, details: error.message, run };
    }
    const text = textOf(error);
    const isSpecial = error.status === 403 || error.status === 404;
    const special = isSpecial ? byMessage.find(([says]) => says.test(text))?.[1] : undefined;
    const said = special ?? usual;
    const advice = said === '' ? undefined : said;
    const id = error.requestId === undefined ? '' : `, request id ${error.requestId}`;
    const details = `${error.status}: ${error.message}${id}`;
    return { title, text, advice, details, required: error.required };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ConnectionError) {
    return {
      title: 'The server cannot be reached',
      text: 'No answer came from the server.',
      advice: 'Check the connection and that the server runs, then try again.',
      details: message,
    };
  }
  return { title: 'Something went wrong', text: message, details: message };
}
