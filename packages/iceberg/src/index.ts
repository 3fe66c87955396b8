export {
  createIceberg,
  type FinishedRequest,
  type IcebergListener,
  type IcebergObserver,
  type IcebergOptions,
} from './iceberg.ts';
export { appendTable, type AppendedTable, type AppendTable } from './catalog/append-table.ts';
