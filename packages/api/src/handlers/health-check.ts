import type { HandlersOf } from '../call.ts';

export function healthCheckHandlers(): HandlersOf<'health-check'> {
  return {
    healthCheck() {
      return undefined;
    },
  };
}
