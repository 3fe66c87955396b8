/** The page parameters of a list, as the engine and access control take them. */
export function pageRequest(query: {
  readonly prefix?: string;
  readonly after?: string;
  readonly amount?: number;
}): { prefix: string | undefined; after: string | undefined; amount: number | undefined } {
  return { prefix: query.prefix, after: query.after, amount: query.amount };
}
