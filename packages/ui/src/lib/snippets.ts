import { objectUrl, s3Uri, svcUri } from './paths.ts';
import { compactRef } from './time-refs.ts';

export interface SnippetPlace {
  readonly origin: string;
  readonly repository: string;
  readonly ref: string;
  readonly path?: string | undefined;
}

export interface CodeSnippet {
  readonly tool: string;
  readonly code: string;
}

/** Quotes for a POSIX shell, only where it is needed. */
export function shellQuote(text: string): string {
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

const keys = '"$ACCESS_KEY_ID:$SECRET_ACCESS_KEY"';

/** S3 tools and shells take braces for patterns: times are written without. */
function plainTime(place: SnippetPlace): SnippetPlace {
  return { ...place, ref: compactRef(place.ref) };
}

/** Ways to list a folder. */
export function listSnippets(place: SnippetPlace): CodeSnippet[] {
  const { origin, repository, ref, path = '' } = plainTime(place);
  const api = `${origin}/api/v1/repositories/${encodeURIComponent(repository)}/refs/${encodeURIComponent(ref)}/objects/ls`;
  return [
    { tool: 'svcctl', code: `svcctl fs ls ${shellQuote(svcUri(repository, ref, path))}` },
    {
      tool: 'AWS CLI',
      code: `aws s3 ls ${shellQuote(s3Uri(repository, ref, path))} \\\n  --endpoint-url ${origin}`,
    },
    {
      tool: 'curl',
      code: `curl -u ${keys} \\\n  ${shellQuote(`${api}?delimiter=/&prefix=${encodeURIComponent(path)}`)}`,
    },
    {
      tool: 'Python',
      code: [
        'import boto3',
        '',
        `s3 = boto3.client("s3", endpoint_url=${JSON.stringify(origin)},`,
        '                  aws_access_key_id=ACCESS_KEY_ID,',
        '                  aws_secret_access_key=SECRET_ACCESS_KEY)',
        `page = s3.list_objects_v2(Bucket=${JSON.stringify(repository)}, Delimiter="/",`,
        `                          Prefix=${JSON.stringify(`${ref}/${path}`)})`,
        'for item in page.get("Contents", []):',
        '    print(item["Key"], item["Size"])',
      ].join('\n'),
    },
  ];
}

/** Ways to read an object. */
export function readSnippets(place: SnippetPlace): CodeSnippet[] {
  const { origin, repository, ref, path = '' } = plainTime(place);
  const snippets: CodeSnippet[] = [
    { tool: 'svcctl', code: `svcctl fs cat ${shellQuote(svcUri(repository, ref, path))}` },
    {
      tool: 'AWS CLI',
      code: `aws s3 cp ${shellQuote(s3Uri(repository, ref, path))} . \\\n  --endpoint-url ${origin}`,
    },
    {
      tool: 'curl',
      code: `curl -u ${keys} -OJ \\\n  ${shellQuote(origin + objectUrl(repository, ref, path))}`,
    },
    {
      tool: 'Python',
      code: [
        'import boto3',
        '',
        `s3 = boto3.client("s3", endpoint_url=${JSON.stringify(origin)},`,
        '                  aws_access_key_id=ACCESS_KEY_ID,',
        '                  aws_secret_access_key=SECRET_ACCESS_KEY)',
        `body = s3.get_object(Bucket=${JSON.stringify(repository)},`,
        `                     Key=${JSON.stringify(`${ref}/${path}`)})["Body"].read()`,
      ].join('\n'),
    },
  ];
  if (/\.(parquet|csv|tsv)$/i.test(path)) {
    const host = origin.replace(/^https?:\/\//, '');
    snippets.push({
      tool: 'DuckDB',
      code: [
        "CREATE SECRET (TYPE s3, KEY_ID getenv('ACCESS_KEY_ID'), SECRET getenv('SECRET_ACCESS_KEY'),",
        `  ENDPOINT '${host}', URL_STYLE 'path', USE_SSL ${origin.startsWith('https:')});`,
        `SELECT * FROM '${s3Uri(repository, ref, path).replaceAll("'", "''")}' LIMIT 20;`,
      ].join('\n'),
    });
    snippets.push({
      tool: 'Spark',
      code: [
        'from pyspark.sql import SparkSession',
        'spark = (',
        '    SparkSession.builder',
        `    .config("spark.hadoop.fs.s3a.endpoint", ${JSON.stringify(origin)})`,
        '    .config("spark.hadoop.fs.s3a.path.style.access", "true")',
        '    .config("spark.hadoop.fs.s3a.access.key", "<access key id>")',
        '    .config("spark.hadoop.fs.s3a.secret.key", "<secret access key>")',
        '    .getOrCreate()',
        ')',
        `df = spark.read.${/\.parquet$/i.test(path) ? 'parquet' : 'option("header", "true").csv'}(${JSON.stringify(`s3a://${repository}/${ref}/${path}`)})`,
      ].join('\n'),
    });
  }
  return snippets;
}

export function createRepositorySnippet(name: string, namespace: string): string {
  return `svcctl repo create ${svcRepository(name)} ${shellQuote(namespace)}`;
}

export function svcRepository(repository: string): string {
  return `svc://${repository}`;
}

function branchUri(repository: string, ref: string): string {
  return shellQuote(`svc://${repository}/${ref}`);
}

export function uploadSnippet(repository: string, branch: string, path: string): string {
  return `svcctl fs upload ${shellQuote(svcUri(repository, branch, path))} --source ./file`;
}

export function commitSnippet(repository: string, branch: string): string {
  return `svcctl commit ${branchUri(repository, branch)} -m "Describe the change"`;
}

export function branchSnippet(repository: string, name: string, source: string): string {
  return `svcctl branch create ${branchUri(repository, name)} --source ${branchUri(repository, source)}`;
}

export function tagSnippet(repository: string, tag: string, ref: string): string {
  return `svcctl tag create ${branchUri(repository, tag)} ${branchUri(repository, ref)}`;
}

export function diffSnippet(repository: string, left: string, right: string): string {
  return `svcctl diff ${branchUri(repository, left)} ${branchUri(repository, right)}`;
}

export function mergeSnippet(repository: string, source: string, destination: string): string {
  return `svcctl merge ${branchUri(repository, source)} ${branchUri(repository, destination)}`;
}

export function logSnippet(repository: string, ref: string): string {
  return `svcctl log ${branchUri(repository, ref)}`;
}

export function protectSnippet(repository: string, pattern: string): string {
  return `svcctl branch-protect add ${svcRepository(repository)} ${shellQuote(pattern)}`;
}

export function collectionSnippet(repository: string): string {
  return `echo '{"default_retention_days": 21, "branches": []}' |\n  svcctl gc set-config ${svcRepository(repository)} -f -`;
}

/** The configuration file of the command line client. */
export function cliConfig(origin: string, accessKeyId: string, secretAccessKey: string): string {
  return [
    'credentials:',
    `  access_key_id: ${accessKeyId}`,
    `  secret_access_key: ${secretAccessKey}`,
    'server:',
    `  endpoint_url: ${origin}/api/v1`,
    '',
  ].join('\n');
}
