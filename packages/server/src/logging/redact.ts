const secretHeaders = new Set(['authorization', 'cookie', 'set-cookie', 'x-amz-security-token']);

const secretQuery =
  /([?&](?:token|code|secret_key|X-Amz-Signature|X-Amz-Security-Token|Signature|X-Amz-Credential)=)[^&#]*/gi;

/** A request URI without credentials in its query. */
export function redactUrl(url: string): string {
  return url.includes('?') ? url.replaceAll(secretQuery, '$1[REDACTED]') : url;
}

/** Some headers are secrets, and some are addresses with secrets: a browser tells which page it comes from. */
export function redactHeaders(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      secretHeaders.has(name.toLowerCase()) ? '[REDACTED]' : redactValue(value),
    ]),
  );
}

function redactValue(value: unknown): unknown {
  return typeof value === 'string' ? redactUrl(value) : value;
}

const secretBodies =
  /\/(auth\/login|auth\/password[^?]*|auth\/cli\/[^?]*|setup_lakefs|setup|sts\/login|auth\/external\/principal\/login)(\?|$)|\/credentials(\/[^/?]+)?(\?|$)|^\/(iceberg|scim)\//;

/** Bodies that carry secrets are never logged, whatever the level. */
export function hasSecretBody(url: string): boolean {
  return secretBodies.test(url);
}
