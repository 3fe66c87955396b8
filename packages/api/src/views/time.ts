import type { Commit } from '@svc/engine';

export type Timestamp = Commit['creationDate'];

/** RFC 3339 in UTC with as many fraction digits as the time has. */
export function dateTimeView({ seconds, nanos }: Timestamp): string {
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  if (nanos === 0) return `${whole}Z`;
  return `${whole}.${String(nanos).padStart(9, '0').replace(/0+$/, '')}Z`;
}
