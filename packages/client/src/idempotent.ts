/** Writes that leave the same state however often they arrive, beside the reading methods. */
const idempotentWrites: readonly { readonly method: string; readonly path: RegExp }[] = [
  { method: 'DELETE', path: /\/branches\/[^/]+\/objects$/ },
  { method: 'POST', path: /\/branches\/[^/]+\/objects\/delete$/ },
  { method: 'PUT', path: /\/branches\/[^/]+\/objects(\/stat\/user_metadata)?$/ },
  { method: 'PUT', path: /\/branches\/[^/]+\/staging\/backing$/ },
  { method: 'PUT', path: /\/settings\/gc_rules$/ },
  { method: 'POST', path: /\/repositories\/[^/]+\/metadata$/ },
  { method: 'DELETE', path: /\/repositories\/[^/]+\/metadata$/ },
];

/** True when sending the request twice does what sending it once does, and answers the same. */
export function isIdempotent(method: string, path: string): boolean {
  if (method === 'GET' || method === 'HEAD') return true;
  return idempotentWrites.some((write) => write.method === method && write.path.test(path));
}
