/** Waits for what is asked for at once. When both fail, the failure of the first is told. */
export async function both<First, Second>(
  first: Promise<First>,
  second: Promise<Second>,
): Promise<[First, Second]> {
  second.catch(() => undefined);
  const one = await first;
  return [one, await second];
}
