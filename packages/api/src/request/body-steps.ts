import type { BodyStep } from '@svc/contract';
import { RequestError } from './request-error.ts';

/** Takes the steps that the contract declares for a body whose schema holds. */
export function takeBodySteps(steps: readonly BodyStep[], body: unknown): unknown {
  let fields = body as Readonly<Record<string, unknown>>;
  for (const step of steps) {
    const text = fields[step.field];
    if (typeof text !== 'string') continue;
    if (step.type === 'refuse') {
      if (text.includes(step.holding)) throw new RequestError(400, step.message);
    } else if (fields[step.when] === true) {
      fields = { ...fields, [step.field]: text.toLowerCase() };
    }
  }
  return fields;
}
