export * from './aws-clients.ts';
export * from './chromium.ts';
export * from './data-clients.ts';
export * from './helm.ts';
export * from './lakefs-clients.ts';
export * from './mc.ts';
export * from './promtool.ts';
export * from './rclone.ts';
