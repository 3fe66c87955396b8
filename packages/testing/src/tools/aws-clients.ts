import { pythonEnvironment } from '../fetch/python-environment.ts';

/** A Python with boto3; the AWS command line and s3cmd lie beside it. */
export function awsClients(): Promise<string> {
  return pythonEnvironment(['boto3==1.44.0', 'awscli==1.46.0', 's3cmd==2.4.0']);
}
