interface BannerOptions {
  readonly version: string;
  readonly url: string;
  /** Those of the quick start; otherwise the reader is sent to the setup. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** Who can connect to a server with preset settings; undefined for one that was configured. */
  readonly reach: 'this machine' | 'other machines' | undefined;
}

const reaches = {
  'this machine': `
  Only this machine can connect. To let others in, begin a new installation with generated secrets:
  SVC_LISTEN_ADDRESS=0.0.0.0:8000 SVC_DATABASE_LOCAL_PATH=~/svc-open/kv SVC_BLOCKSTORE_LOCAL_PATH=~/svc-open/data\n`,
  'other machines': `
  Other machines can connect. The secrets were generated for this installation and are kept beside its database.\n`,
} as const;

/** What a person who has just started the server wants to know. */
export function banner({ version, url, credentials, reach }: BannerOptions): string {
  const head = `\nsvc ${version} is serving at ${url}\n${reach === undefined ? '' : reaches[reach]}`;
  if (credentials === undefined) {
    return `${head}
  Not set up yet? Create the first administrator with "svc setup --user-name admin", or open ${url}/setup.
  API: ${url}/api/v1   description: ${url}/openapi.json   metrics: ${url}/metrics\n\n`;
  }
  const { accessKeyId, secretAccessKey } = credentials;
  return `${head}
  Access Key ID:     ${accessKeyId}
  Secret Access Key: ${secretAccessKey}

  Try it (from another terminal, in this folder):

    1. create a repository
       curl -u '${accessKeyId}:${secretAccessKey}' ${url}/api/v1/repositories \\
         -H 'Content-Type: application/json' -d '{"name":"quickstart","storage_namespace":"local://quickstart","sample_data":true}'

    2. look into it with the command-line tool
       export SVCCTL_SERVER_ENDPOINT_URL=${url} SVCCTL_CREDENTIALS_ACCESS_KEY_ID=${accessKeyId} SVCCTL_CREDENTIALS_SECRET_ACCESS_KEY='${secretAccessKey}'
       npx svcctl fs ls svc://quickstart/main/

    3. use it as an S3 bucket
       AWS_ACCESS_KEY_ID=${accessKeyId} AWS_SECRET_ACCESS_KEY='${secretAccessKey}' \\
         aws --endpoint-url ${url} --region us-east-1 s3 ls s3://quickstart/main/

  Press Ctrl-C to stop.\n\n`;
}
