import { gzipSync } from 'node:zlib';
import { ParquetWriter, fileWriter } from 'hyparquet-writer';

/** Rows are compressed and written in groups of this many; the file's size is only known after each. */
const rowsPerGroup = 100_000;

/**
 * The Parquet file an external collector reads: the physical addresses of uncommitted objects with their times.
 * Rows are gathered in memory group by group; everything written is in the file on disk.
 */
export class AddressFile {
  readonly #parquet: ParquetWriter;
  #addresses: string[] = [];
  #dates: bigint[] = [];
  #rows = 0;

  constructor(path: string) {
    this.#parquet = new ParquetWriter({
      writer: fileWriter(path),
      codec: 'GZIP',
      compressors: { GZIP: (input) => gzipSync(input) },
      statistics: false,
      schema: [
        { name: 'root', num_children: 2 },
        { name: 'physical_address', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
        { name: 'creation_date', type: 'INT64', converted_type: 'INT_64', repetition_type: 'REQUIRED' },
      ],
    });
  }

  get rows(): number {
    return this.#rows;
  }

  /** Answers the bytes written so far when this row completed a group, else undefined. */
  async add(physicalAddress: string, creationDate: number): Promise<number | undefined> {
    this.#addresses.push(physicalAddress);
    this.#dates.push(BigInt(creationDate));
    this.#rows += 1;
    if (this.#addresses.length < rowsPerGroup) return undefined;
    await this.#writeGroup();
    return this.#parquet.writer.offset;
  }

  async finish(): Promise<void> {
    if (this.#addresses.length > 0) await this.#writeGroup();
    await this.#parquet.finish();
  }

  async #writeGroup(): Promise<void> {
    await this.#parquet.write({
      columnData: [
        { name: 'physical_address', data: this.#addresses },
        { name: 'creation_date', data: this.#dates },
      ],
      rowGroupSize: rowsPerGroup,
    });
    this.#addresses = [];
    this.#dates = [];
  }
}
