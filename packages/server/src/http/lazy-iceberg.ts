import type { AppendTable } from '@svc/api';
import type { Engine } from '@svc/engine';
import type { IcebergListener, IcebergOptions } from '@svc/iceberg';
import type { RequestListener } from 'node:http';

/** The table catalog, loaded with the first request for it: most servers never need it. */
export function lazyIceberg(options: () => IcebergOptions): RequestListener {
  let loaded: Promise<IcebergListener> | undefined;
  return (request, response) => {
    loaded ??= import('@svc/iceberg').then(({ createIceberg }) => createIceberg(options()));
    void loaded.then((listen) => listen(request, response));
  };
}

/** How merges settle conflicts of tables. */
export function lazyAppendTable(engine: Engine): AppendTable {
  return async (options) => {
    const { appendTable } = await import('@svc/iceberg');
    return appendTable({ ...options, engine });
  };
}
