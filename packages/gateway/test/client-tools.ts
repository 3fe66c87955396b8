import { goTool, pythonEnvironment } from '@svc/testing';

/** Foreign S3 clients, pinned: their wire behaviour is what the tours test. */
export const clientTools = {
  aws: () => pythonEnvironment(['boto3==1.44.0', 'awscli==1.46.0', 's3cmd==2.4.0']),
  data: () =>
    pythonEnvironment([
      's3fs==2026.9.0',
      'pyarrow==26.0.1',
      'deltalake==1.6.6',
      'duckdb==1.5.5',
      'duckdb-extension-httpfs==1.5.5',
    ]),
  rclone: () => goTool('github.com/rclone/rclone@v1.75.1'),
  mc: () => goTool('github.com/minio/mc@v0.0.0-20250313080218-cf909e1063a9'),
} as const;
