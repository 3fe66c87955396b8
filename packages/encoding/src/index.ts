export * from './crc64nvme.ts';
export * from './records/index.ts';
export * from './sigv4.ts';
