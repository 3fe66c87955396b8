interface BannerOptions {
  readonly version: string;
  readonly url: string;
  /** Those of the quick start; otherwise the reader is sent to the setup. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
}

/** What a person who has just started the server wants to know. */
export function banner({ version, url, credentials }: BannerOptions): string {
  const head = `\nsvc ${version} is serving at ${url}\n`;
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
