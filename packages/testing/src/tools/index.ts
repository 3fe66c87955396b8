export * from './analytics-clients.ts';
export * from './aws-clients.ts';
export * from './chromium.ts';
export * from './data-clients.ts';
export * from './lakefs-clients.ts';
export * from './mc.ts';
export * from './rclone.ts';
export * from './spark.ts';
