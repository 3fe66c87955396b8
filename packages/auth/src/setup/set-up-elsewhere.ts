import { AuthError } from '../errors.ts';
import type { Setup } from './contract.ts';

/** The setup of an installation whose users an authorization service keeps: nothing is left to do. */
export const setUpElsewhere: Setup = {
  state: () => Promise.resolve({ initialized: true, commPrefsMissing: false }),
  run: () => Promise.reject(setUp()),
  setCommPrefs: () => Promise.reject(setUp()),
  createSuperuser: () => Promise.reject(setUp()),
};

function setUp(): AuthError {
  return new AuthError('already_initialized', 'users are kept by the authorization service');
}
