/** User-given string pairs. Maps made here have no prototype, so a key such as `__proto__` is only a key. */
export type StringMap = Readonly<Record<string, string>>;

export const emptyStringMap: StringMap = Object.freeze(Object.create(null) as Record<string, string>);

/** A copy without prototype, safe to extend. */
export function copyStringMap(map: StringMap): Record<string, string> {
  const copy = Object.create(null) as Record<string, string>;
  for (const key of Object.keys(map)) copy[key] = map[key] ?? '';
  return copy;
}
