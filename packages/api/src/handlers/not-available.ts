import { Answer } from '../answer/answer.ts';
import type { Handlers } from '../call.ts';

type Ids =
  | 'listRepositoryRuns'
  | 'getRun'
  | 'listRunHooks'
  | 'getRunHookOutput'
  | 'oauthCallback'
  | 'forgotPassword'
  | 'updatePassword';

const notImplemented = (): Answer => Answer.json(501, { message: 'Not Implemented' });

/** Operations of features this installation does not have. */
export function notAvailableHandlers(): Handlers<Ids> {
  return {
    listRepositoryRuns: notImplemented,
    getRun: notImplemented,
    listRunHooks: notImplemented,
    getRunHookOutput: notImplemented,
    oauthCallback: notImplemented,
    forgotPassword: notImplemented,
    updatePassword: notImplemented,
  };
}
