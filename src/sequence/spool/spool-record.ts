// Records of a spool file: four bytes of length, four of checksum, then JSON. A record counts when it is whole: what a crash
// or a full disk left at the end of a file is recognised and cut off.
import { crc32 } from 'node:zlib';

/** A result that could not be committed yet. */
export interface SpooledResult {
  readonly stream: string;
  readonly operationId: string;
  readonly kind: string;
  readonly epoch: number;
  readonly operations: readonly unknown[];
}

export type SpoolRecord =
  | { readonly what: 'keep'; readonly result: SpooledResult }
  | { readonly what: 'done'; readonly stream: string; readonly operationId: string };

const HEADER = 8;
const MOST_BYTES = 16 * 1024 * 1024;

export function encodeRecord(record: SpoolRecord): Buffer {
  const body = Buffer.from(JSON.stringify(record), 'utf8');
  const header = Buffer.alloc(HEADER);
  header.writeUInt32BE(body.length, 0);
  header.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([header, body]);
}

/** The whole records from the beginning, and how many bytes they take: what follows is not one. */
export function decodeRecords(bytes: Buffer): { records: SpoolRecord[]; length: number } {
  const records: SpoolRecord[] = [];
  let at = 0;
  while (at + HEADER <= bytes.length) {
    const length = bytes.readUInt32BE(at);
    const end = at + HEADER + length;
    if (length === 0 || length > MOST_BYTES || end > bytes.length) break;
    const body = bytes.subarray(at + HEADER, end);
    if (crc32(body) !== bytes.readUInt32BE(at + 4)) break;
    records.push(JSON.parse(body.toString('utf8')) as SpoolRecord);
    at = end;
  }
  return { records, length: at };
}
