import { AuthError } from '../errors.ts';

export function userNotFound(): AuthError {
  return new AuthError('not_found', 'user not found');
}

export function groupNotFound(): AuthError {
  return new AuthError('not_found', 'group not found');
}

export function policyNotFound(): AuthError {
  return new AuthError('not_found', 'policy not found');
}

export function credentialsNotFound(): AuthError {
  return new AuthError('not_found', 'credentials not found');
}

export function alreadyExists(): AuthError {
  return new AuthError('already_exists', 'Already exists');
}
