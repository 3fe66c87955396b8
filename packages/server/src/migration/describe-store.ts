import type { Config } from '../config/index.ts';

/** The store without its secrets. */
export function describeStore({ database }: Config): string {
  switch (database.type) {
    case 'local':
      return `local ${database.local.path}`;
    case 'postgres':
      return `postgres ${withoutPassword(database.postgres.connection_string)}`;
    case 'dynamodb':
      return `dynamodb ${[database.dynamodb.endpoint, database.dynamodb.table_name].filter(Boolean).join(' ')}`;
    case 'cosmosdb':
      return `cosmosdb ${database.cosmosdb.endpoint} ${database.cosmosdb.database} ${database.cosmosdb.container}`;
    case 'mem':
    case '':
      return database.type;
  }
}

function withoutPassword(connectionString: string): string {
  if (!/^postgres(ql)?:\/\//.test(connectionString)) {
    return connectionString.replaceAll(/\bpassword\s*=\s*('(?:\\.|[^'])*'|\S+)/gi, 'password=******');
  }
  return connectionString.replaceAll(/([?&]password=)[^&]*/gi, '$1******').replace(/:\/\/.*@/, '://');
}
