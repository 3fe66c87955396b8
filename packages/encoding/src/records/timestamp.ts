/** A moment as stored: whole seconds since 1970 (any sign) and nanoseconds within the second. */
export interface Timestamp {
  readonly seconds: number;
  readonly nanos: number;
}

export const zeroTimestamp: Timestamp = { seconds: 0, nanos: 0 };

export function timestampFromMillis(millis: number): Timestamp {
  const seconds = Math.floor(millis / 1000);
  return { seconds, nanos: Math.round((millis - seconds * 1000) * 1_000_000) };
}

export function timestampFromSeconds(seconds: number): Timestamp {
  return { seconds, nanos: 0 };
}

export function timestampToMillis(timestamp: Timestamp): number {
  return timestamp.seconds * 1000 + timestamp.nanos / 1_000_000;
}

export function timestampToDate(timestamp: Timestamp): Date {
  return new Date(Math.floor(timestampToMillis(timestamp)));
}

/** Negative, zero or positive as `left` is earlier than, equal to or later than `right`. */
export function compareTimestamps(left: Timestamp, right: Timestamp): number {
  return left.seconds - right.seconds || left.nanos - right.nanos;
}
