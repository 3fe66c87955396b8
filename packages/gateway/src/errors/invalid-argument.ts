import { S3Error } from './s3-error.ts';

/** `InvalidArgument` that names the argument and what was given for it. */
export function invalidArgument(message: string, name: string, value: string): S3Error {
  return new S3Error('InvalidArgument', message, {
    elements: [
      ['ArgumentName', name],
      ['ArgumentValue', value],
    ],
  });
}
