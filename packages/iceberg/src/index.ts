export {
  createIceberg,
  type FinishedRequest,
  type IcebergListener,
  type IcebergObserver,
  type IcebergOptions,
} from './iceberg.ts';
