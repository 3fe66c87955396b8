import { host, luaOf, packageOf, plainOf, type LuaValue } from '../lua-value.ts';
import { metastoreOperations } from '../worker-protocol.ts';
import type { Ask } from './svc.ts';

/** Tables of Hive and Glue metastores, copied to branches and compared: each function takes a table of options. */
export function metastorePackage(ask: Ask): LuaValue {
  return packageOf(
    Object.fromEntries(
      metastoreOperations.map((operation) => [
        operation,
        host((args) => {
          const options = JSON.stringify(plainOf(args.table(1)));
          const { body } = ask({ kind: 'metastore', operation, options });
          return luaOf(JSON.parse(Buffer.from(body).toString('utf8')));
        }),
      ]),
    ),
  );
}
