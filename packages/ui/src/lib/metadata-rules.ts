export interface MetadataPair {
  readonly key: string;
  readonly value: string;
}

/** What is wrong with each key; `undefined` for a valid one. */
export function checkMetadata(pairs: readonly MetadataPair[]): (string | undefined)[] {
  const seen = new Set<string>();
  return pairs.map(({ key }) => {
    const name = key.trim();
    if (name === '') return 'A key is required; remove the row to leave it out';
    if (seen.has(name)) return 'This key is already used';
    seen.add(name);
    return undefined;
  });
}

export function toMetadata(pairs: readonly MetadataPair[]): Record<string, string> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key.trim(), value]));
}
