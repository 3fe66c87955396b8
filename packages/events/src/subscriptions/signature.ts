import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';

export function newSecret(): string {
  return prefix + randomBytes(32).toString('base64');
}

/** The headers by which a receiver knows who sent a message, as Standard Webhooks has them. */
export function signatureHeaders(
  secrets: readonly string[],
  message: { readonly id: string; readonly nowMs: number; readonly body: string },
): Record<string, string> {
  const timestamp = String(Math.floor(message.nowMs / 1000));
  const signed = `${message.id}.${timestamp}.${message.body}`;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  });
  return {
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
