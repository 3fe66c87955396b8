import { Option, type Command } from 'commander';

export function typeOptions(command: Command): Command {
  return command
    .option('--from-client-type <type>', 'hive or glue: where it is (metastore.type)')
    .option('--to-client-type <type>', 'hive or glue: where it goes (metastore.type)');
}

export function catalogOptions(command: Command): Command {
  return command
    .option('--metastore-uri <address>', 'host:port of the Hive metastore (metastore.hive.uri)')
    .option('--catalog-id <id>', 'Glue catalog (metastore.glue.catalog_id; default: of the account)');
}

export function dryRunOption(): Option {
  return new Option('--dry-run', 'say what would be done, change nothing');
}

export function dbfsOption(): Option {
  return new Option('--dbfs-root <location>', 'what dbfs:/ stands for, such as s3://my-repo/main/');
}
