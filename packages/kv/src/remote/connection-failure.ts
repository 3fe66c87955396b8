export interface ConnectionFailure {
  readonly reason: string;
  /** False when the request cannot have reached the server. */
  readonly sent: boolean;
  /** True when nobody is there to be spoken to, which may change. */
  readonly absent: boolean;
}

const nobodyThere =
  /^(UND_ERR_CONNECT_TIMEOUT|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENETDOWN)$/;
const broken =
  /^(UND_ERR_(SOCKET|HEADERS_TIMEOUT|BODY_TIMEOUT|CLOSED|DESTROYED|ABORTED|RES_CONTENT_LENGTH_MISMATCH)|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|HPE_.*)$/;
const untrusted =
  /^(EPROTO|ERR_SSL.*|ERR_TLS.*|CERT_.*|DEPTH_ZERO.*|SELF_SIGNED.*|UNABLE_TO.*|HOSTNAME_MISMATCH)$/;

/** What went wrong on the way to a server, or undefined when the error is not about the connection. */
export function connectionFailure(error: unknown): ConnectionFailure | undefined {
  const { code, errors, message } = (error ?? {}) as { code?: unknown; errors?: unknown[]; message?: string };
  if (typeof code === 'string') {
    const reason = `${code}${message === undefined ? '' : ` (${message})`}`;
    if (nobodyThere.test(code)) return { reason, sent: false, absent: true };
    if (untrusted.test(code)) return { reason, sent: false, absent: false };
    if (broken.test(code)) return { reason, sent: true, absent: false };
  }
  // Several addresses of one host failed, each in its own way.
  return Array.isArray(errors) && errors.length > 0 ? connectionFailure(errors[0]) : undefined;
}
