export * from './crc64nvme.ts';
export * from './records/index.ts';
