const renewBeforeMs = 15_000;

/** When a pre-signed URL ends; undefined when it does not say. */
export function expiryOf(url: string): number | undefined {
  const query = new URL(url).searchParams;
  const date = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(query.get('X-Amz-Date') ?? '');
  const seconds = Number(query.get('X-Amz-Expires') ?? Number.NaN);
  if (date === null || Number.isNaN(seconds)) return undefined;
  const [, year, month, day, hour, minute, second] = date;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) + seconds * 1000;
}

/** True when a URL has less than 15 s left, or does not say how long it has. */
export function endsSoon(url: string, now = Date.now()): boolean {
  const expiry = expiryOf(url);
  return expiry === undefined || expiry - now < renewBeforeMs;
}
