import { Answer } from '../../answer/answer.ts';

/** The handler of an operation whose feature this installation does not have. */
export function notImplemented(): Answer {
  return Answer.json(501, { message: 'Not Implemented' });
}
