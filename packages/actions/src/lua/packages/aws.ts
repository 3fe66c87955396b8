import { host, packageOf, type Arguments, type LuaValue } from '../lua-value.ts';
import { awsAccount, type AwsAccount } from './aws-request.ts';
import { glueClient } from './glue.ts';
import { s3Client } from './s3.ts';
import type { Ask } from './svc.ts';

export function awsPackage(ask: Ask): LuaValue {
  const account = (args: Arguments): AwsAccount =>
    awsAccount(args.text(1), args.text(2), args.optionalText(3), args.optionalText(4));
  return packageOf({
    s3_client: host((args) => s3Client(ask, account(args))),
    glue_client: host((args) => glueClient(ask, account(args))),
  });
}
