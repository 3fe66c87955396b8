import type { HandlersOf } from '../call.ts';
import { notImplemented } from './shared/not-implemented.ts';

/** This installation runs no hooks. */
export function actionHandlers(): HandlersOf<'actions'> {
  return {
    listRepositoryRuns: notImplemented,
    getRun: notImplemented,
    listRunHooks: notImplemented,
    getRunHookOutput: notImplemented,
  };
}
