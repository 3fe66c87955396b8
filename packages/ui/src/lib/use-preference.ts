import { useSyncExternalStore } from 'react';
import { onPreference, readPreference, writePreference } from './preferences.ts';

/** What somebody chose in this browser: a plain value, the same on every part of the page. */
export function usePreference<Value extends string | number | boolean>(
  name: string,
  fallback: Value,
): readonly [Value, (value: Value) => void] {
  const value = useSyncExternalStore(onPreference, () => readPreference<Value>(name, fallback));
  return [value, (next) => writePreference(name, next)];
}
