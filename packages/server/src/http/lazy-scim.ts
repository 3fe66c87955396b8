import type { ScimListener, ScimOptions } from '@svc/api/scim';
import type { RequestListener } from 'node:http';

/** Provisioning by an identity provider, loaded with the first request for it. */
export function lazyScim(options: ScimOptions): RequestListener {
  let loaded: Promise<ScimListener> | undefined;
  return (request, response) => {
    loaded ??= import('@svc/api/scim').then(({ createScim }) => createScim(options));
    void loaded.then((listen) => listen(request, response));
  };
}
