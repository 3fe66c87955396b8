import { useSyncExternalStore } from 'react';
import { onPreference, readPreference, writePreference } from './preferences.ts';

/** A preference kept in this browser, shared by all parts of the page. */
export function usePreference<Value extends string | number | boolean>(
  name: string,
  fallback: Value,
): readonly [Value, (value: Value) => void] {
  const value = useSyncExternalStore(onPreference, () => readPreference<Value>(name, fallback));
  return [value, (next) => writePreference(name, next)];
}
