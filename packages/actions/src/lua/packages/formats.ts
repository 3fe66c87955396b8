import { bytesOf, host, hostMany, luaOf, packageOf, type LuaValue } from '../lua-value.ts';
import type { KeyPair } from '../worker-protocol.ts';
import type { Ask } from './svc.ts';

/** `<version>.json`; checkpoints and sums of the log are others. */
const logFile = /^\d{20}\.json$/;
const pageSize = '1000';

interface Listing {
  readonly results: readonly { readonly path: string }[];
  readonly pagination: { readonly has_more: boolean; readonly next_offset: string };
}

interface DeltaMetadata {
  readonly id?: string;
  readonly name?: string;
  readonly description?: string;
  readonly schemaString?: string;
  readonly partitionColumns?: readonly string[];
  readonly configuration?: Readonly<Record<string, string>>;
  readonly createdTime?: number;
}

export function formatsPackage(ask: Ask): LuaValue {
  return packageOf({
    delta_client: host((args) =>
      deltaClient(ask, { accessKeyId: args.text(1), secretAccessKey: args.text(2) }),
    ),
  });
}

/** Reads logs of Delta tables in repositories of this service, with the rights of a key pair. */
function deltaClient(ask: Ask, credentials: KeyPair): LuaValue {
  const get = (repository: string, ref: string, part: string, query: Record<string, string>): Uint8Array => {
    const path = `/repositories/${encodeURIComponent(repository)}/refs/${encodeURIComponent(ref)}/${part}`;
    const answer = ask({ kind: 'api', method: 'GET', path, query, credentials });
    if (answer.status !== 200)
      throw new Error(`${query['path'] ?? query['prefix'] ?? ''}: HTTP ${answer.status}`);
    return answer.body;
  };
  return packageOf({
    get_table: hostMany((args) => {
      const [repository, ref] = [args.text(1), args.text(2)];
      const prefix = `${args.text(3).replace(/\/$/, '')}/_delta_log/`;
      const files: string[] = [];
      for (let after = ''; ;) {
        const query = { prefix, after, amount: pageSize };
        const page = JSON.parse(Buffer.from(get(repository, ref, 'objects/ls', query)).toString()) as Listing;
        files.push(...page.results.map(({ path }) => path));
        if (!page.pagination.has_more) break;
        after = page.pagination.next_offset;
      }
      const versions = files.filter((path) => logFile.test(path.slice(prefix.length)));
      if (versions.length === 0) throw new Error(`no Delta table at ${args.text(3)}`);
      let metadata: DeltaMetadata = {};
      const log: [number, LuaValue][] = versions.map((path) => {
        const lines = Buffer.from(get(repository, ref, 'objects', { path }))
          .toString('utf8')
          .split('\n');
        const actions = lines.filter((line) => line.trim() !== '');
        for (const action of actions) {
          const { metaData } = JSON.parse(action) as { readonly metaData?: DeltaMetadata };
          if (metaData !== undefined) metadata = metaData;
        }
        return [Number(path.slice(prefix.length, -'.json'.length)), actions.map((action) => bytesOf(action))];
      });
      if (log[0]?.[0] !== 0)
        throw new Error(
          `the log of ${args.text(3)} begins at version ${log[0]?.[0] ?? ''}: older ones were cleaned up`,
        );
      return [new Map(log), luaOf(metadataTable(metadata))];
    }),
  });
}

function metadataTable(metadata: DeltaMetadata): Record<string, unknown> {
  return {
    id: metadata.id ?? '',
    name: metadata.name ?? '',
    description: metadata.description ?? '',
    schema_string: metadata.schemaString ?? '',
    partition_columns: metadata.partitionColumns ?? [],
    configuration: metadata.configuration ?? {},
    created_time: metadata.createdTime ?? 0,
  };
}
